package component

import (
	_ "embed"
	"path/filepath"
	"strings"

	nodefast "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	nodeheartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	podfast "sigs.k8s.io/kwok/kustomize/stage/pod/fast"

	"koordinator.sh/koord/sandbox/state"
)

// RunSecondsAnnotation on a pod says after how many seconds it succeeds; without it the pod runs until it is deleted.
const RunSecondsAnnotation = "simulation.koordinator.sh/run-seconds"

//go:embed pod-complete.yaml
var podComplete string

// WriteKwokConfig writes the life cycle that simulated nodes and pods go through: kwok's own, but for pods of Jobs,
// which there succeed at once and here run for as long as they say.
func WriteKwokConfig(dir state.Dir) error {
	stages := []string{
		nodefast.DefaultNodeInit, nodeheartbeat.DefaultNodeHeartbeatWithLease,
		podfast.DefaultPodReady, podfast.DefaultPodDelete, podComplete,
	}
	return state.WriteFile(filepath.Join(dir.Config(), "kwok.yaml"), []byte(strings.Join(stages, "\n---\n")))
}
