{{/*
Data of ConfigMap .name with the edits of the cluster kept: a merge, key by key, of what the chart rendered last (known by the
hashes in an annotation), what lies in the cluster, and what the chart renders now (.desired, text by key).

  in the cluster             result
  no ConfigMap               the chart's text
  key as last rendered       the chart's text
  key edited or foreign      the cluster's text
  key deleted                absent

With .overwrite the chart's text always wins. The answer is YAML with keys "data" and "annotations".
*/}}
{{- define "koordinator.keptEdits" -}}
{{- $annotation := "koordinator.sh/rendered-sha256" -}}
{{- $live := lookup "v1" "ConfigMap" .namespace .name | default dict -}}
{{- $liveData := get $live "data" | default dict -}}
{{- $recorded := dig "metadata" "annotations" $annotation "{}" $live | fromJson -}}
{{- $data := dict -}}
{{- $hashes := dict -}}
{{- range $key, $text := .desired -}}
  {{- $hash := sha256sum $text -}}
  {{- $last := get $recorded $key -}}
  {{- $kept := get $liveData $key -}}
  {{- if or $.overwrite (not $live) (and (not $last) (not (hasKey $liveData $key))) -}}
    {{- $_ := set $data $key $text -}}
    {{- $_ := set $hashes $key $hash -}}
  {{- else if not (hasKey $liveData $key) -}}
    {{- $_ := set $hashes $key $last -}}
  {{- else if or (eq $kept $text) (eq (sha256sum $kept) $last) -}}
    {{- $_ := set $data $key $text -}}
    {{- $_ := set $hashes $key $hash -}}
  {{- else -}}
    {{- $_ := set $data $key $kept -}}
    {{- if $last -}}
      {{- $_ := set $hashes $key $last -}}
    {{- end -}}
  {{- end -}}
{{- end -}}
{{- dict "data" $data "annotations" (dict $annotation (toJson $hashes)) | toYaml -}}
{{- end }}
