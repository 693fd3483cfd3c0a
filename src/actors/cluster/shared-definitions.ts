/** To whoever asks one node to change what all of them go by. */
export const SHARED_DEFINITIONS = "the definitions of several nodes stand in their store: change them by 'kron apply'";
