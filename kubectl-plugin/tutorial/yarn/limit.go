package yarn

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
)

const (
	// followWithin is how long what the node offers may take to follow the service: its averages are over a minute.
	followWithin = 100 * time.Second
	// leftVCores are about those that YARN has where the threshold is lowered.
	leftVCores = 4
)

// awaitLess waits until YARN may use less than its containers do. Where other programs change what they use, what the node offers need not
// follow the service: the threshold is lowered then.
func (s *story) awaitLess(ctx context.Context, t *tutorial.Session) error {
	less := func(ctx context.Context) error {
		if err := s.look(ctx); err != nil {
			return err
		}
		return s.shrank()
	}
	err := t.Await(ctx, "YARN to have less", followWithin, less)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if err := s.limit(ctx, t); err != nil {
		return err
	}
	return t.Await(ctx, "YARN to have less", followWithin, less)
}

// limit lowers the threshold, so that the node offers about leftVCores.
func (s *story) limit(ctx context.Context, t *tutorial.Session) (err error) {
	if s.threshold, err = threshold(ctx, t); err != nil {
		return err
	}
	var node corev1.Node
	if err := t.Ask(ctx, &node, "get", "node", t.Node.Name, "-o", "json"); err != nil {
		return err
	}
	s.limited = true
	return setThreshold(ctx, t, s.threshold-100*(s.node.vcores()-leftVCores)*perVCore/node.Status.Capacity.Cpu().MilliValue())
}

// threshold is how much of a node's CPU may be used, in percent.
func threshold(ctx context.Context, t *tutorial.Session) (int64, error) {
	var all corev1.ConfigMap
	if err := t.Ask(ctx, &all, "get", "configmap", configuration.DefaultConfigMapName, "-n", configuration.DefaultNamespace, "-o", "json"); err != nil {
		return 0, err
	}
	var colocation struct {
		Threshold int64 `json:"cpuReclaimThresholdPercent"`
	}
	if err := json.Unmarshal([]byte(all.Data[configuration.ColocationConfigKey]), &colocation); err != nil {
		return 0, fmt.Errorf("read %s: %w", configuration.ColocationConfigKey, err)
	}
	return colocation.Threshold, nil
}

func setThreshold(ctx context.Context, t *tutorial.Session, percent int64) error {
	_, err := t.Koordctl(ctx, "config", "set", fmt.Sprintf("colocation-config.cpuReclaimThresholdPercent=%d", percent), "--yes")
	return err
}

// remark is added where what the node offered did not follow the service.
func (s *story) remark() string {
	if !s.limited {
		return ""
	}
	return " Other programs changed what they used, so that the node did not offer less in time: YARN had less because the threshold was lowered."
}
