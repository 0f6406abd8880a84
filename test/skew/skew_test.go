package skew

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/kubectl-plugin/install"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/test/sandboxtest"
)

// TestOtherVersionsOfKubernetes runs the whole system on the control plane of each version that is built.
func TestOtherVersionsOfKubernetes(t *testing.T) {
	for _, directory := range directories(t) {
		t.Run(filepath.Base(directory), func(t *testing.T) {
			r := newRig(t, directory)
			t.Run("status names the version and finds nothing else", r.checkStatus)
			t.Run("nodes offer batch resources", r.checkOffers)
			t.Run("admission policies compile", r.checkPolicies)
			t.Run("a profile makes batch pods, which run", r.checkProfile)
			t.Run("a pending pod is explained", r.checkExplanation)
			t.Run("a quota limits its pods", r.checkQuota)
			t.Run("a pod is migrated", r.checkMigration)
			t.Run("no component failed or missed an API", r.checkComponents)
		})
	}
}

func (r *rig) checkStatus(t *testing.T) {
	if got := r.koordctl(t, "version", "--client=false"); !strings.Contains(got, "Server Version: "+r.server) {
		t.Errorf("version prints %q, want server version %s", got, r.server)
	}
	var want []string
	if r.minor < 36 {
		want = []string{string(finding.KubernetesSkew)}
	}
	sandboxtest.Eventually(t, patience, func() error {
		var status install.InstallationStatus
		r.ask(t, &status, "status")
		if status.Kubernetes.Version != r.server {
			t.Fatalf("status is of version %s, want %s", status.Kubernetes.Version, r.server)
		}
		states := map[string]install.State{
			"release": status.ReleaseState, "api": status.API.State, "definitions": status.Definitions.State, "config": status.Config.State,
			"protections": status.Protections.State, "enforcement": status.Enforcement.State,
		}
		for _, component := range status.Components {
			states[component.Name] = component.State
		}
		for name, state := range states {
			if state != install.StateReady {
				return fmt.Errorf("%s is %s: %+v", name, state, status)
			}
		}
		var found []string
		for _, f := range status.Findings {
			found = append(found, f.Code)
		}
		if diff := cmp.Diff(want, found); diff != "" {
			return fmt.Errorf("findings (-want +got):\n%s%+v", diff, status.Findings)
		}
		return nil
	})
}

func (r *rig) checkOffers(t *testing.T) {
	sandboxtest.Eventually(t, patience, func() error {
		var list corev1.NodeList
		if err := r.client.List(t.Context(), &list); err != nil {
			return err
		}
		offering := 0
		for i := range list.Items {
			if cpu := list.Items[i].Status.Allocatable[extension.BatchCPU]; !cpu.IsZero() {
				offering++
			}
		}
		if len(list.Items) != nodes || offering < nodes-1 { // the hot node has nothing left
			return fmt.Errorf("%d of %d nodes offer batch CPU, want %d of %d", offering, len(list.Items), nodes-1, nodes)
		}
		return nil
	})
}

// checkPolicies waits until the controller manager has type-checked the policies: each expression must be valid for the version.
func (r *rig) checkPolicies(t *testing.T) {
	sandboxtest.Eventually(t, patience, func() error {
		var list admissionregistrationv1.ValidatingAdmissionPolicyList
		if err := r.client.List(t.Context(), &list); err != nil {
			return err
		}
		if len(list.Items) == 0 {
			return errors.New("there are no policies")
		}
		for i := range list.Items {
			policy := &list.Items[i]
			if policy.Status.TypeChecking == nil || policy.Status.ObservedGeneration != policy.Generation {
				return fmt.Errorf("policy %s is not checked yet", policy.Name)
			}
			if warnings := policy.Status.TypeChecking.ExpressionWarnings; len(warnings) > 0 {
				t.Fatalf("policy %s: %+v", policy.Name, warnings)
			}
		}
		return nil
	})
}

func (r *rig) checkExplanation(t *testing.T) {
	sandboxtest.Eventually(t, patience, func() error {
		var explanation diagnosticsv1alpha1.PodExplanation
		r.ask(t, &explanation, "explain", "pod", "monthly-report", "-n", "analytics")
		status := explanation.Status
		tooLarge := slices.ContainsFunc(status.Groups, func(g diagnosticsv1alpha1.RefusalGroup) bool {
			return g.Code == string(finding.InsufficientResources) && g.Count == nodes
		})
		if status.Verdict != diagnosticsv1alpha1.PodUnschedulable || !tooLarge || len(status.Incomplete) > 0 {
			return fmt.Errorf("monthly-report is %s with %+v, incomplete %v; want Unschedulable, on all nodes with %s too", status.Verdict, status.Groups,
				status.Incomplete, finding.InsufficientResources)
		}
		return nil
	})
	result, err := r.Koordctl(t.Context(), "explain", "node", "sim-0001", "batch-cpu")
	if err != nil || result.Code != 0 || !strings.Contains(result.Stdout, "NodeMetric/sim-0001") || strings.Contains(result.Stderr, "incomplete") {
		t.Errorf("explain node: exit code %d, %v\n%s%s", result.Code, err, result.Stdout, result.Stderr)
	}
}

// checkComponents holds that every process is the first of its kind, and that none asked the API server for what it does not serve.
func (r *rig) checkComponents(t *testing.T) {
	var status control.Status
	r.ask(t, &status, "sandbox", "status", "--name", r.Name)
	for _, component := range status.Components {
		if component.Phase != control.Running || component.Restarts > 0 {
			t.Errorf("%s is %s after %d restarts: %s", component.Name, component.Phase, component.Restarts, component.LastExit)
		}
		log, err := os.ReadFile(filepath.Join(r.Directory(), "logs", component.Name+".log"))
		if err != nil {
			t.Error(err)
		}
		for line := range strings.Lines(string(log)) {
			if strings.Contains(line, "could not find the requested resource") || strings.Contains(line, "no matches for kind") {
				t.Errorf("%s: %s", component.Name, line)
			}
		}
	}
}
