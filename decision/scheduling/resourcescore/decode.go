package resourcescore

import (
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/decision/scheduling/pluginargs"
)

// DecodeFitPlusArgs reads the arguments of the plugin NodeResourcesFitPlus and validates them.
func DecodeFitPlusArgs(object runtime.Object) (*FitPlusArgs, error) {
	return pluginargs.Read(object, FitPlusKind, nil, ValidateFitPlus)
}

// DecodeScarceArgs reads the arguments of the plugin ScarceResourceAvoidance and validates them.
func DecodeScarceArgs(object runtime.Object) (*ScarceArgs, error) {
	return pluginargs.Read(object, ScarceKind, nil, ValidateScarce)
}
