package configuration_test

import (
	"fmt"
	"testing"

	"koordinator.sh/koord/descheduler/configuration"
)

func TestReadsNormalConditions(t *testing.T) {
	tests := map[string]struct {
		args string
		want bool
	}{
		"no conditions":                 {"maxPodLifeTimeSeconds: 600", false},
		"pods that are not ready":       {`conditions: [{type: Ready, status: "False"}]`, false},
		"pods that are ready":           {`conditions: [{type: Ready, status: "True"}]`, false},
		"pods that wait for a node":     {`conditions: [{type: PodScheduled, status: "False", reason: Unschedulable}]`, false},
		"pods that have a node":         {`conditions: [{type: PodScheduled, status: "True", minTimeSinceLastTransitionSeconds: 60}]`, true},
		"any status of a type":          {`conditions: [{type: ContainersReady, minTimeSinceLastTransitionSeconds: 60}]`, true},
		"any type":                      {`conditions: [{reason: Completed}]`, true},
		"the second one of two selects": {`conditions: [{type: Ready}, {type: Initialized, status: "True"}]`, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			read, err := configuration.Read([]byte(fmt.Sprintf(`
apiVersion: descheduler/v1alpha2
kind: DeschedulerConfiguration
profiles:
- name: p
  plugins:
    deschedule: {enabled: [{name: PodLifeTime}]}
  pluginConfig:
  - name: PodLifeTime
    args: {apiVersion: descheduler/v1alpha2, kind: PodLifeTimeArgs, %s}
`, test.args)), registry())
			if err != nil {
				t.Fatal(err)
			}
			if got := read.ReadsNormalConditions(); got != test.want {
				t.Errorf("reads normal conditions: %v, want %v", got, test.want)
			}
		})
	}
}
