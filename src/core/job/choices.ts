/** Words of which one is chosen, for whoever names them without reading anything: schemas, and the options of commands. */

export const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] as const;

export const WINDOW_SIDES = ["after", "around", "before"] as const;

/** Who sends a request. */
export const REQUEST_CARRIERS = ["krond", "worker"] as const;
export type RequestCarrier = (typeof REQUEST_CARRIERS)[number];

/** Who looks at an endpoint; `off`: nobody does. */
export const PLANNER_CHOICES = ["off", "rules", "chat"] as const;
export type PlannerChoice = (typeof PLANNER_CHOICES)[number];
