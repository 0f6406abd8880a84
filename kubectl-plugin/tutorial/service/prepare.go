package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/sandbox/workload"
)

// Percentages of the node's CPU.
const (
	// mostPercent may services and batch pods use together, beside what else runs on the machine.
	mostPercent = 65
	// ownPercent is about what the sandbox itself uses, which is no reason to raise the threshold.
	ownPercent = 20
	// lookFor is how long the machine is looked at.
	lookFor = 5 * time.Second
)

// Prepare configures the node for a cluster of one, and returns when it is ready. At the end of the tutorial the configuration is what it
// was, and the namespace and other objects, such as clustercolocationprofile/NAME, are deleted.
func (s *Service) Prepare(ctx context.Context, t *tutorial.Session, others ...string) error {
	if err := s.undoAtTheEnd(ctx, t, others); err != nil {
		return err
	}
	if err := s.lookAround(ctx, t); err != nil {
		return err
	}
	const threshold = "resource-threshold-config.clusterStrategy."
	settings := []string{
		fmt.Sprintf("colocation-config.cpuReclaimThresholdPercent=%d", mostPercent+s.other),
		fmt.Sprintf(threshold+"cpuSuppressThresholdPercent=%d", min(mostPercent+s.other, 100)),
		fmt.Sprintf(threshold+"cpuSuppressMinPercent=%d", s.LeastPercent),
		threshold + "cpuSuppressPolicy=cfsQuota",
	}
	if s.Yields {
		settings = append(settings, "resource-qos-config.clusterStrategy.beClass.cpuQOS.enable=true")
	}
	if _, err := t.Koordctl(ctx, slices.Concat([]string{"config", "set"}, settings, []string{"--yes"})...); err != nil {
		return err
	}
	_, err := t.Kubectl(ctx, "annotate", "node", t.Node.Name, "--overwrite", extension.AnnotationCustomUsageThresholds+`={"usageThresholds":{"cpu":0}}`)
	if err != nil {
		return err
	}
	return t.Await(ctx, "the node to be ready", StartWithin, func(ctx context.Context) error { return ready(ctx, t) })
}

// undoAtTheEnd has everything deleted that the tutorial makes, and the configuration be what it was.
func (s *Service) undoAtTheEnd(ctx context.Context, t *tutorial.Session, others []string) error {
	configMap := []string{"configmap", configuration.DefaultConfigMapName, "-n", configuration.DefaultNamespace}
	var before corev1.ConfigMap
	if err := t.Ask(ctx, &before, append([]string{"get", "-o", "json"}, configMap...)...); err != nil {
		return err
	}
	patch, err := json.Marshal(map[string]any{"data": before.Data})
	if err != nil {
		return err
	}
	kubectl := func(ctx context.Context, args ...string) error {
		_, err := t.Run(ctx, t.KubectlPath, "", args...)
		return err
	}
	t.Undo(func(ctx context.Context) error {
		return errors.Join(
			kubectl(ctx, append([]string{"delete", "--ignore-not-found", "namespace/" + s.Namespace}, others...)...),
			kubectl(ctx, "annotate", "node", t.Node.Name, extension.AnnotationCustomUsageThresholds+"-"),
			kubectl(ctx, append([]string{"patch", "--type=merge", "-p", string(patch)}, configMap...)...),
		)
	})
	return nil
}

// lookAround finds out what else runs on the machine: it is counted as the system's use, and the thresholds are higher by as much.
func (s *Service) lookAround(ctx context.Context, t *tutorial.Session) error {
	before, err := workload.MachineCPUTime()
	if err != nil {
		return err
	}
	began := time.Now()
	err = t.Await(ctx, "what else runs on this machine to show", time.Minute, func(context.Context) error {
		if time.Since(began) < lookFor {
			return errors.New("it was looked at too briefly")
		}
		return nil
	})
	if err != nil {
		return err
	}
	after, err := workload.MachineCPUTime()
	if err != nil {
		return err
	}
	s.other = max(int(math.Round(100*after.Since(before)))-ownPercent, 0)
	return nil
}

// SeenAround says what else runs on the machine.
func (s *Service) SeenAround() string {
	if s.other == 0 {
		return "Nothing else of note runs on this machine."
	}
	return fmt.Sprintf("Other programs use %d %% of this machine, which counts as use of the system: the thresholds are higher by as much, and all "+
		"figures below include it.", s.other)
}

func ready(ctx context.Context, t *tutorial.Session) error {
	var node corev1.Node
	if err := t.Ask(ctx, &node, "get", "node", t.Node.Name, "-o", "json"); err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return errors.New("it is not ready")
}
