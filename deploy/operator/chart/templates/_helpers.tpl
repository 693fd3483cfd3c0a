{{- define "kron.labels" -}}
app.kubernetes.io/name: kron-operator
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
{{- define "kron.selector" -}}
app.kubernetes.io/name: kron-operator
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
