{{- define "fathom.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}
{{- end -}}
{{- end -}}

{{- define "fathom.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: fathom
{{- end -}}

{{- define "fathom.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "fathom.plan" -}}
{{ .Files.Get "files/plan.json" }}
{{- end -}}

{{- define "fathom.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "fathom.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{- define "fathom.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- /* The Kafka user of a group or of `serve`, and the Secret with its password or certificate. */ -}}
{{- define "fathom.user" -}}
{{- $ := index . 0 -}}
{{ default (include "fathom.fullname" $) $.Values.kafka.secretPrefix }}-{{ index . 1 }}
{{- end -}}

{{- /* What the chart cannot do without, each with what to write. */ -}}
{{- define "fathom.check" -}}
{{- $_ := required "kafka.bootstrapServers is missing: write host:port of your brokers" .Values.kafka.bootstrapServers -}}
{{- if not (or .Values.stores.redis.url .Values.stores.redis.urlSecret) -}}
{{- fail "stores.redis is missing: workers share it; write stores.redis.url, or stores.redis.urlSecret for a URL with a password" -}}
{{- end -}}
{{- $_ := required "stores.qdrant.url is missing: workers share it" .Values.stores.qdrant.url -}}
{{- $_ := required "stores.neo4j.url is missing: workers share it" .Values.stores.neo4j.url -}}
{{- $_ := required "stores.neo4j.passwordSecret is missing: name the Secret with `password`" .Values.stores.neo4j.passwordSecret -}}
{{- $keys := or .Values.stores.keys.url .Values.stores.keys.urlSecret -}}
{{- if and $keys (not .Values.stores.keys.masterKeySecret) -}}
{{- fail "stores.keys.masterKeySecret is missing: name the Secret with `master-key`, which wraps the keys of persons" -}}
{{- end -}}
{{- if and (not $keys) (or .Values.stores.keys.masterKeySecret .Values.stores.keys.plainTopics) -}}
{{- fail "stores.keys.url is missing: write the URL of the Redis with the keys of persons, or stores.keys.urlSecret" -}}
{{- end -}}
{{- if .Values.serve.enabled -}}
{{- $_ := required "serve.tokensSecret is missing: name the Secret with `tokens`, or say serve.enabled=false" .Values.serve.tokensSecret -}}
{{- if and .Values.serve.upstream.keySecret (not .Values.serve.upstream.url) -}}
{{- fail "serve.upstream.url is missing: write https://HOST/v1 of the model whose key serve.upstream.keySecret is" -}}
{{- end -}}
{{- end -}}
{{- if .Values.strimzi.enabled -}}
{{- $_ := required "strimzi.cluster is missing: name the Kafka resource" .Values.strimzi.cluster -}}
{{- end -}}
{{- $known := list -}}
{{- range get (include "fathom.plan" . | fromJson).layouts .Values.layout }}{{ $known = append $known .name }}{{ end -}}
{{- range $name, $_ := .Values.groups -}}
{{- if not (has $name $known) -}}
{{- fail (printf "groups.%s is no group of the layout %s; there are %s" $name $.Values.layout (join ", " $known)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Where the brokers are and how they are spoken to; secrets are files, and their names stand here. */ -}}
{{- define "fathom.kafkaSettings" -}}
FATHOM_BROKER: {{ .Values.kafka.bootstrapServers | quote }}
FATHOM_PARTITIONS: {{ .Values.kafka.partitions | quote }}
FATHOM_REPLICATION: {{ .Values.kafka.replicas | quote }}
FATHOM_CREATE_TOPICS: "off"
FATHOM_KAFKA_SECURITY: {{ .Values.kafka.security | quote }}
{{- if hasPrefix "SASL" .Values.kafka.security }}
FATHOM_KAFKA_SASL_MECHANISM: {{ .Values.kafka.saslMechanism | quote }}
FATHOM_KAFKA_PASSWORD_FILE: /secrets/kafka/password
{{- end }}
{{- if eq .Values.kafka.security "SSL" }}
FATHOM_KAFKA_CERT_FILE: /secrets/kafka/user.crt
FATHOM_KAFKA_KEY_FILE: /secrets/kafka/user.key
{{- end }}
{{- if and .Values.kafka.caSecret (hasSuffix "SSL" .Values.kafka.security) }}
FATHOM_KAFKA_CA_FILE: /secrets/kafka-ca/ca.crt
{{- end }}
FATHOM_HTTP_HOST: 0.0.0.0
FATHOM_HTTP_PORT: "8080"
FATHOM_LOG_FORMAT: json
{{- end -}}

{{- /* The environment of every process that works on the stores. */ -}}
{{- define "fathom.settings" -}}
{{ include "fathom.kafkaSettings" . }}
FATHOM_LAYOUT: {{ .Values.layout | quote }}
{{- if not .Values.stores.redis.urlSecret }}
FATHOM_REDIS_URL: {{ .Values.stores.redis.url | quote }}
{{- end }}
FATHOM_QDRANT_URL: {{ .Values.stores.qdrant.url | quote }}
{{- if .Values.stores.qdrant.apiKeySecret }}
FATHOM_QDRANT_API_KEY_FILE: /secrets/qdrant/api-key
{{- end }}
FATHOM_NEO4J_URL: {{ .Values.stores.neo4j.url | quote }}
FATHOM_NEO4J_USER: {{ .Values.stores.neo4j.user | quote }}
FATHOM_NEO4J_PASSWORD_FILE: /secrets/neo4j/password
{{- with .Values.stores.keys }}
{{- if .masterKeySecret }}
{{- if not .urlSecret }}
FATHOM_SUBJECT_KEYS: {{ .url | quote }}
{{- end }}
FATHOM_MASTER_KEY_FILE: /secrets/keys/master-key
{{- with .plainTopics }}
FATHOM_PLAIN_TOPICS: {{ . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- range $file, $_ := .Values.policies }}
FATHOM_{{ trimSuffix ".yaml" $file | trimSuffix "s" | upper }}_POLICY: /policies/{{ $file }}
{{- end }}
{{- range $name, $value := .Values.settings }}
{{ $name }}: {{ $value | toString | quote }}
{{- end }}
{{- end -}}

{{- define "fathom.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "fathom.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "fathom.probes" -}}
startupProbe:
  httpGet: {path: /health/startup, port: health}
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /health/live, port: health}
  periodSeconds: 10
  timeoutSeconds: 3
  failureThreshold: 3
readinessProbe:
  httpGet: {path: /health/ready, port: health}
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 2
{{- end -}}

{{- /* Of a container that speaks to brokers alone; arguments: the root, the name of the user. */ -}}
{{- define "fathom.kafkaMounts" -}}
{{- $ := index . 0 -}}
- {name: tmp, mountPath: /tmp}
{{- if ne $.Values.kafka.security "PLAINTEXT" }}
- {name: kafka, mountPath: /secrets/kafka, readOnly: true}
{{- if and $.Values.kafka.caSecret (hasSuffix "SSL" $.Values.kafka.security) }}
- {name: kafka-ca, mountPath: /secrets/kafka-ca, readOnly: true}
{{- end }}
{{- end }}
{{- end -}}

{{- define "fathom.mounts" -}}
{{- $ := index . 0 -}}
{{ include "fathom.kafkaMounts" . }}
{{- if $.Values.stores.qdrant.apiKeySecret }}
- {name: qdrant, mountPath: /secrets/qdrant, readOnly: true}
{{- end }}
- {name: neo4j, mountPath: /secrets/neo4j, readOnly: true}
{{- if $.Values.stores.keys.masterKeySecret }}
- {name: keys, mountPath: /secrets/keys, readOnly: true}
{{- end }}
{{- if $.Values.policies }}
- {name: policies, mountPath: /policies, readOnly: true}
{{- end }}
{{- end -}}

{{- define "fathom.kafkaVolumes" -}}
{{- $ := index . 0 -}}
- {name: tmp, emptyDir: {}}
{{- if and (ne $.Values.kafka.security "PLAINTEXT") (ne $.Values.kafka.security "") }}
- name: kafka
  secret: {secretName: {{ include "fathom.user" . }}, defaultMode: 0440}
{{- if and $.Values.kafka.caSecret (hasSuffix "SSL" $.Values.kafka.security) }}
- name: kafka-ca
  secret: {secretName: {{ $.Values.kafka.caSecret }}, defaultMode: 0440}
{{- end }}
{{- end }}
{{- end -}}

{{- define "fathom.volumes" -}}
{{- $ := index . 0 -}}
{{ include "fathom.kafkaVolumes" . }}
{{- if $.Values.stores.qdrant.apiKeySecret }}
- name: qdrant
  secret: {secretName: {{ $.Values.stores.qdrant.apiKeySecret }}, defaultMode: 0440}
{{- end }}
- name: neo4j
  secret: {secretName: {{ $.Values.stores.neo4j.passwordSecret }}, defaultMode: 0440}
{{- with $.Values.stores.keys.masterKeySecret }}
- name: keys
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- if $.Values.policies }}
- name: policies
  configMap: {name: {{ include "fathom.fullname" $ }}-policies}
{{- end }}
{{- end -}}

{{- /* Environment that differs by process; arguments: the root, the user, settings of its own. */ -}}
{{- define "fathom.env" -}}
{{- $ := index . 0 -}}
- {name: HOME, value: /tmp}
- {name: PYTHONDONTWRITEBYTECODE, value: "1"}
{{- if hasPrefix "SASL" $.Values.kafka.security }}
- {name: FATHOM_KAFKA_USER, value: {{ include "fathom.user" . | quote }}}
{{- end }}
{{- with $.Values.stores.redis.urlSecret }}
- name: FATHOM_REDIS_URL
  valueFrom: {secretKeyRef: {name: {{ . }}, key: url}}
{{- end }}
{{- with $.Values.stores.keys.urlSecret }}
- name: FATHOM_SUBJECT_KEYS
  valueFrom: {secretKeyRef: {name: {{ . }}, key: url}}
{{- end }}
{{- range $name, $value := index . 2 }}
- {name: {{ $name }}, value: {{ $value | toString | quote }}}
{{- end }}
{{- end -}}

{{- define "fathom.placement" -}}
{{- with .Values.worker.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.worker.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.worker.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.worker.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
