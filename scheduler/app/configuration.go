package app

import (
	_ "embed"
	"fmt"

	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

//go:embed default.yaml
var defaultConfiguration []byte

// DefaultConfiguration returns the configuration that is in force without --config, with defaults filled in.
func DefaultConfiguration() (*config.KubeSchedulerConfiguration, error) {
	object, kind, err := scheme.Codecs.UniversalDecoder().Decode(defaultConfiguration, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("decode the built-in configuration: %w", err)
	}
	configuration, ok := object.(*config.KubeSchedulerConfiguration)
	if !ok {
		return nil, fmt.Errorf("decode the built-in configuration: unexpected type %T", object)
	}
	configuration.APIVersion = kind.GroupVersion().String() // the decoder clears it, and validation asks for it
	return configuration, nil
}
