package nodefeature

import (
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

// followsPods configures features of which the objects of pods say what they do.
func followsPods(*slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	return diagnosticsv1alpha1.FeatureYes, "follows the labels, annotations and resources of pods"
}

// followsNode configures features that follow the annotation of the node.
func followsNode(*slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	return diagnosticsv1alpha1.FeatureYes, "follows the annotation of the node"
}

// alwaysReports configures features that only measure and report.
func alwaysReports(*slov1alpha1.NodeSLOSpec) (diagnosticsv1alpha1.FeatureState, string) {
	return diagnosticsv1alpha1.FeatureYes, "always measures and reports; the NodeSLO has no setting for it"
}

// qosClasses are the classes of a NodeSLO in its order, and the names of their settings.
var qosClasses = []struct {
	class extension.QoSClass
	name  string
}{{extension.QoSLSR, "lsrClass"}, {extension.QoSLS, "lsClass"}, {extension.QoSBE, "beClass"}, {extension.QoSSystem, "systemClass"}}

// anyClass is for features that a setting of a QoS class switches on. Which classes a feature follows is up to its decision.
func anyClass(strategy *slov1alpha1.ResourceQOSStrategy, setting string, on func(extension.QoSClass) bool) (diagnosticsv1alpha1.FeatureState, string) {
	if strategy == nil {
		return diagnosticsv1alpha1.FeatureNo, "the NodeSLO has no resourceQOSStrategy"
	}
	for _, of := range qosClasses {
		if on(of.class) {
			return diagnosticsv1alpha1.FeatureYes, "resourceQOSStrategy." + of.name + "." + setting + " is on"
		}
	}
	return diagnosticsv1alpha1.FeatureNo, "resourceQOSStrategy has " + setting + " enabled for none of the classes it applies to"
}

// classSettings are the paths of a setting in each class of resource-qos-config.
func classSettings(path string) []string {
	var out []string
	for _, class := range []string{"lsrClass", "lsClass", "beClass", "systemClass", "cgroupRoot"} {
		out = append(out, class+"."+path)
	}
	return out
}
