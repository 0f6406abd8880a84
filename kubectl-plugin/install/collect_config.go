package install

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/decision/core/configmerge"
)

// lastGoodName is the ConfigMap in which the manager keeps the texts in force of every key it was able to read.
const lastGoodName = configName + "-last-good"

// judgeConfig reads the configuration as the manager does. A key that cannot be used is a finding that says what is in force
// in its place.
func (c *collector) judgeConfig(ctx context.Context, read *corev1.ConfigMap) error {
	state := &c.status.Config
	state.State = StateReady
	parsed, problems := configmerge.Parse(read.Data)
	state.Problems = new(len(problems))
	var last *corev1.ConfigMap
	seen := len(c.status.Incomplete)
	if slices.ContainsFunc(problems, configmerge.Problem.Rejects) {
		state.State = StateDegraded
		var err error
		if last, err = c.lastGood(ctx); err != nil {
			return err
		}
		if last != nil {
			kept, _ := configmerge.Parse(last.Data)
			parsed = configmerge.KeepLastGood(kept, parsed)
		}
	}
	for _, problem := range problems {
		found := problem.Finding(c.status.Namespace, configName)
		if problem.Rejects() {
			found.Message += inForce(problem.Key, last)
		}
		c.status.Findings = append(c.status.Findings, found)
	}
	if len(c.status.Incomplete) == seen {
		state.Colocation = enabled(parsed)
	}
	c.config = parsed
	return nil
}

// judgeMissing reports a ConfigMap that does not exist, and what the manager goes by without it.
func (c *collector) judgeMissing(ctx context.Context) error {
	state := &c.status.Config
	state.State, state.Problems = StateAbsent, new(int)
	seen := len(c.status.Incomplete)
	last, err := c.lastGood(ctx)
	if err != nil {
		return err
	}
	kept, _ := configmerge.Parse(nil)
	if last != nil {
		kept, _ = configmerge.Parse(last.Data)
	}
	c.config = configmerge.Gone(kept)
	known := len(c.status.Incomplete) == seen
	for _, problem := range c.config.Problems() {
		found := problem.Finding(c.status.Namespace, configName)
		if !known {
			found.Message = "the ConfigMap does not exist; what is in force in its place could not be seen"
		}
		c.status.Findings = append(c.status.Findings, found)
	}
	if known {
		state.Colocation = enabled(c.config)
	}
	return nil
}

// enabled is whether a configuration switches co-location on for nodes that no strategy selects.
func enabled(config configmerge.Config) *bool {
	strategy := config.Colocation(&corev1.Node{}).Strategy
	return new(strategy.Enable != nil && *strategy.Enable)
}

// lastGood is nil when there is none, or when it may not be read.
func (c *collector) lastGood(ctx context.Context) (*corev1.ConfigMap, error) {
	last, err := c.client.CoreV1().ConfigMaps(c.status.Namespace).Get(ctx, lastGoodName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) || c.unseen(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get configmap %q in namespace %q: %w", lastGoodName, c.status.Namespace, err)
	}
	return last, nil
}

// inForce says what holds in place of a key that cannot be used.
func inForce(key string, last *corev1.ConfigMap) string {
	if last == nil {
		return "; what is in force in its place could not be seen"
	}
	if last.Data[key] == "" {
		return "; the built-in default is in force because no valid text was ever read"
	}
	return fmt.Sprintf("; the last valid text is in force, kept in configmap %s", lastGoodName)
}
