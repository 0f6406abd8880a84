package install

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/decision/admission/protection"
)

// collectProtections looks whether the policies and webhook configurations that the chart turned on are there and as it made them.
func (c *collector) collectProtections(ctx context.Context) error {
	state := &c.status.Protections
	config, err := c.client.CoreV1().ConfigMaps(c.status.Namespace).Get(ctx, protection.ConfigMapName, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		state.State, state.Detail = StateUnknown, "configmap "+protection.ConfigMapName+" does not exist"
		c.status.Findings = append(c.status.Findings, diagnosticsv1alpha1.Finding{
			Code: string(finding.ProtectionMissing), Severity: diagnosticsv1alpha1.SeverityWarning, Hint: "koordctl install",
			Message: fmt.Sprintf("configmap %q does not exist in namespace %q: which protections are turned on is unknown", protection.ConfigMapName, c.status.Namespace),
		})
		return nil
	case c.unseen(err):
		state.State = StateUnknown
		return nil
	case err != nil:
		return fmt.Errorf("get configmap %q in namespace %q: %w", protection.ConfigMapName, c.status.Namespace, err)
	}
	expected, inForce, unseen := protection.Expected(config.Data), 0, false
	for _, p := range expected {
		live, seen, err := c.protection(ctx, p)
		if err != nil {
			return err
		}
		if !seen {
			unseen = true
			continue
		}
		if assessed := protection.Assess(p, config.Data[p.Key()], live); assessed.State == protection.InForce {
			inForce++
		} else {
			c.status.Findings = append(c.status.Findings, assessed.Finding())
		}
	}
	state.Expected, state.State = new(len(expected)), StateReady
	switch {
	case unseen:
		state.State = StateUnknown
		return nil
	case inForce < len(expected):
		state.State = StateDegraded
	}
	state.InForce = &inForce
	return nil
}

// protection returns an object, nil for one that does not exist; seen is false when it may not be read.
func (c *collector) protection(ctx context.Context, p protection.Protection) (live map[string]any, seen bool, err error) {
	resource := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: protection.Resource(p.Kind)}
	object, err := c.dynamic.Resource(resource).Get(ctx, p.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, true, nil
	case c.unseen(err):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("get %s %q: %w", p.Kind, p.Name, err)
	}
	return object.Object, true, nil
}
