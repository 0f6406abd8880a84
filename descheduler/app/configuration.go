package app

import (
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	descheduler "koordinator.sh/koord/api/descheduler/v1alpha2"
)

// readConfiguration reads the configuration file. Unknown fields are an error.
func readConfiguration(path string) (*descheduler.DeschedulerConfiguration, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	configuration := &descheduler.DeschedulerConfiguration{}
	if err := yaml.UnmarshalStrict(data, configuration); err != nil {
		return nil, fmt.Errorf("decode configuration %q: %w", path, err)
	}
	if want := descheduler.GroupVersion.String(); configuration.APIVersion != want || configuration.Kind != descheduler.Kind {
		return nil, fmt.Errorf("decode configuration %q: apiVersion %q and kind %q must be %q and %q",
			path, configuration.APIVersion, configuration.Kind, want, descheduler.Kind)
	}
	return configuration, nil
}
