{{- define "gridhook.name" -}}
{{- .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "gridhook.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels that select the pods of a component. */}}
{{- define "gridhook.selector" -}}
app.kubernetes.io/name: {{ include "gridhook.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- if .component }}
app.kubernetes.io/component: {{ .component }}
{{- end }}
{{- end -}}

{{- define "gridhook.labels" -}}
{{ include "gridhook.selector" . }}
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{/* Not empty if env or extraEnv sets one of the names. */}}
{{- define "gridhook.setsOneOf" -}}
{{- $names := .names }}
{{- range $name, $value := .root.Values.env }}{{ if has $name $names }}true{{ end }}{{ end }}
{{- range .root.Values.extraEnv }}{{ if has .name $names }}true{{ end }}{{ end }}
{{- end }}

{{/* The components that run: one "serve", or "api" and "worker". */}}
{{- define "gridhook.components" -}}
components: {{ ternary (list "serve") (list "api" "worker") .Values.serve.enabled | toJson }}
{{- end -}}

{{- define "gridhook.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "gridhook.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "gridhook.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{- define "gridhook.operatorSecret" -}}
{{- .Values.operatorKey.existingSecret | default (printf "%s-operator" (include "gridhook.fullname" .)) -}}
{{- end -}}

{{/* The secrets of a component's pod, by their folder under /etc/gridhook. */}}
{{- define "gridhook.files" -}}
{{- with .root.Values -}}
{{- if ne $.component "serve" }}
{{- with .nats.credentialsSecret }}
nats: {{ . | quote }}
{{- end }}
{{- with .nats.tlsSecret }}
nats-tls: {{ . | quote }}
{{- end }}
{{- end }}
{{- with .masterKey.existingSecret }}
master-key: {{ . | quote }}
{{- end }}
{{- with .tls.adminSecret }}
admin-tls: {{ . | quote }}
{{- end }}
{{- if ne $.component "worker" }}
{{- with .tls.apiSecret }}
tls: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* A probe of the admin listener. The kubelet does not verify the certificate. */}}
{{- define "gridhook.probe" -}}
httpGet: {path: {{ .path }}, port: admin, scheme: {{ ternary "HTTPS" "HTTP" (not (empty .root.Values.tls.adminSecret)) }}}
{{- end -}}

{{/* The pod of a component, with one container. */}}
{{- define "gridhook.pod" -}}
{{- $root := .root -}}
{{- $values := .values -}}
{{- $files := include "gridhook.files" . | fromYaml -}}
metadata:
  labels:
    {{- include "gridhook.labels" . | nindent 4 }}
    {{- with $root.Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $root.Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "gridhook.serviceAccount" $root }}
  automountServiceAccountToken: false
  {{- with $root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    seccompProfile: {type: RuntimeDefault}
  terminationGracePeriodSeconds: {{ $root.Values.terminationGracePeriodSeconds | default 60 }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . | quote }}
  {{- end }}
  topologySpreadConstraints:
    {{- with $values.topologySpreadConstraints }}
    {{- toYaml . | nindent 4 }}
    {{- else }}
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "gridhook.selector" . | nindent 10 }}
    {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "gridhook.image" $root | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: [{{ .component }}]
      env:
        {{- if ne .component "serve" }}
        - {name: GRIDHOOK_NATS, value: {{ $root.Values.nats.url | quote }}}
        - {name: GRIDHOOK_NATS_REPLICAS, value: {{ $root.Values.nats.replicas | quote }}}
        {{- end }}
        {{- if $files.nats }}
        - {name: GRIDHOOK_NATS_CREDS, value: /etc/gridhook/nats/{{ $root.Values.nats.credentialsKey }}}
        {{- end }}
        {{- if index $files "nats-tls" }}
        - {name: GRIDHOOK_NATS_CA, value: /etc/gridhook/nats-tls/ca.crt}
        {{- if $root.Values.nats.clientCertificate }}
        - {name: GRIDHOOK_NATS_CERT, value: /etc/gridhook/nats-tls/tls.crt}
        - {name: GRIDHOOK_NATS_KEY, value: /etc/gridhook/nats-tls/tls.key}
        {{- end }}
        {{- end }}
        {{- if index $files "master-key" }}
        - {name: GRIDHOOK_MASTER_KEY_FILE, value: /etc/gridhook/master-key/{{ $root.Values.masterKey.key }}}
        {{- end }}
        {{- if $files.tls }}
        - {name: GRIDHOOK_TLS_CERT, value: /etc/gridhook/tls/tls.crt}
        - {name: GRIDHOOK_TLS_KEY, value: /etc/gridhook/tls/tls.key}
        {{- end }}
        {{- if index $files "admin-tls" }}
        - {name: GRIDHOOK_ADMIN_TLS_CERT, value: /etc/gridhook/admin-tls/tls.crt}
        - {name: GRIDHOOK_ADMIN_TLS_KEY, value: /etc/gridhook/admin-tls/tls.key}
        {{- end }}
        {{- if ne .component "worker" }}
        - name: GRIDHOOK_OPERATOR_KEY
          valueFrom:
            secretKeyRef: {name: {{ include "gridhook.operatorSecret" $root }}, key: operator-key}
        {{- with $root.Values.api.ingress }}
        {{- if and .enabled .trustedProxies }}
        - {name: GRIDHOOK_TRUSTED_PROXIES, value: {{ join "," .trustedProxies | quote }}}
        {{- end }}
        {{- end }}
        {{- end }}
        {{- if eq .component "worker" }}
        - {name: GRIDHOOK_SLICES, value: {{ $values.slices | quote }}}
        - {name: GRIDHOOK_DRAIN_TIMEOUT, value: {{ $values.drainTimeout | quote }}}
        {{- end }}
        {{- range $name, $value := $root.Values.env }}
        - {name: {{ $name }}, value: {{ $value | quote }}}
        {{- end }}
        {{- with $root.Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      ports:
        {{- if ne .component "worker" }}
        - {name: http, containerPort: 8080}
        {{- end }}
        - {name: admin, containerPort: 8081}
      # A process listens after its recovery and its catch-up.
      startupProbe:
        {{- include "gridhook.probe" (dict "root" $root "path" "/readyz") | nindent 8 }}
        periodSeconds: 2
        failureThreshold: {{ div ($root.Values.startupSeconds | default 360) 2 }}
      readinessProbe:
        {{- include "gridhook.probe" (dict "root" $root "path" "/readyz") | nindent 8 }}
        periodSeconds: 5
      livenessProbe:
        {{- include "gridhook.probe" (dict "root" $root "path" "/livez") | nindent 8 }}
        periodSeconds: 10
        failureThreshold: 3
      {{- with $values.stopDelaySeconds }}
      lifecycle:
        preStop:
          sleep: {seconds: {{ . }}}
      {{- end }}
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: data, mountPath: /var/lib/gridhook}
        {{- range $name, $secret := $files }}
        - {name: {{ $name }}, mountPath: /etc/gridhook/{{ $name }}, readOnly: true}
        {{- end }}
        {{- with $root.Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  {{- if or $files $root.Values.extraVolumes (ne .component "serve") }}
  volumes:
    {{- if ne .component "serve" }}
    - name: data
      emptyDir: {sizeLimit: {{ $values.dataSize }}}
    {{- end }}
    {{- range $name, $secret := $files }}
    - name: {{ $name }}
      # Only the group of the process can read it.
      secret: {secretName: {{ $secret }}, defaultMode: 0440}
    {{- end }}
    {{- with $root.Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}


{{/* The labels of a command's pod. No service selects them. */}}
{{- define "gridhook.commandSelector" -}}
app.kubernetes.io/name: {{ include "gridhook.name" . }}-command
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The pod of a command that calls the admin API: a backup or a test. */}}
{{- define "gridhook.command" -}}
{{- $root := .root -}}
restartPolicy: Never
serviceAccountName: {{ include "gridhook.serviceAccount" $root }}
automountServiceAccountToken: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
containers:
  - name: gridhook
    image: {{ include "gridhook.image" $root | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: {{ .args | toJson }}
    env:
      - {name: GRIDHOOK_ADMIN_URL, value: {{ ternary "https" "http" (not (empty $root.Values.tls.adminSecret)) }}://{{ include "gridhook.fullname" $root }}-operator.{{ $root.Release.Namespace }}.svc:8081}
      - name: GRIDHOOK_OPERATOR_KEY
        valueFrom:
          secretKeyRef: {name: {{ include "gridhook.operatorSecret" $root }}, key: operator-key}
      {{- if $root.Values.tls.adminSecret }}
      - {name: SSL_CERT_FILE, value: /etc/gridhook/admin-tls/ca.crt}
      {{- end }}
      {{- range .env }}
      - {{ toJson . }}
      {{- end }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: {drop: [ALL]}
    {{- if or .volumes $root.Values.tls.adminSecret }}
    volumeMounts:
      {{- if $root.Values.tls.adminSecret }}
      - {name: admin-tls, mountPath: /etc/gridhook/admin-tls, readOnly: true}
      {{- end }}
      {{- range .volumes }}
      - {name: {{ .name }}, mountPath: /{{ .name }}}
      {{- end }}
volumes:
  {{- with $root.Values.tls.adminSecret }}
  - name: admin-tls
    secret: {secretName: {{ . }}, items: [{key: ca.crt, path: ca.crt}]}
  {{- end }}
  {{- range .volumes }}
  - {{ toJson . }}
  {{- end }}
    {{- end }}
{{- end -}}
