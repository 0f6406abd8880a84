package reservation

import (
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/decision/scheduling/pluginargs"
)

// DecodeArgs reads the arguments of the plugin, fills in defaults and validates them.
func DecodeArgs(object runtime.Object) (*Args, error) {
	return pluginargs.Read(object, Kind, SetDefaults, Validate)
}
