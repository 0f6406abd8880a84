package overcommit

import (
	"fmt"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/configmerge"
)

func (c *calculation) nodeSource(field string) *diagnosticsv1alpha1.SourceRef {
	return &diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: c.in.Node.Name, Field: field}
}

func (c *calculation) metricSource(field string) *diagnosticsv1alpha1.SourceRef {
	return &diagnosticsv1alpha1.SourceRef{Kind: "NodeMetric", Name: c.in.Node.Name, Field: field}
}

// settingSource names the object a setting was read from, by the layer it came from.
func (c *calculation) settingSource(key string) *diagnosticsv1alpha1.SourceRef {
	layer := configmerge.LayerDefault
	for _, setting := range c.in.Strategy.Settings {
		if setting.Key == key {
			layer = setting.Layer
		}
	}
	switch layer {
	case configmerge.LayerDefault:
		return &diagnosticsv1alpha1.SourceRef{Kind: "Default", Field: key}
	case configmerge.LayerNodeAnnotation:
		return c.nodeSource(annotationField(extension.AnnotationNodeColocationStrategy) + "." + key)
	case configmerge.LayerNodeLabel:
		return c.nodeSource("metadata.labels")
	}
	name := c.in.configMap()
	return &diagnosticsv1alpha1.SourceRef{Kind: "ConfigMap", Namespace: name.Namespace, Name: name.Name,
		Field: fmt.Sprintf("data[%s].%s", configuration.ColocationConfigKey, key)}
}

func annotationField(key string) string { return "metadata.annotations[" + key + "]" }
