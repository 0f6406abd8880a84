package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/test/sandboxtest"
)

// laterFields are fields of a NodeSLO that no version known here has.
const laterFields = `{"metadata":{"annotations":{"later.example.com/note":"kept"}},"spec":{"fieldOfALaterVersion":{"a":1},` +
	`"resourceUsedThresholdWithBE":{"fieldOfALaterVersion":"kept"},"extensions":{"theirs":{"b":2}}}}`

// laterKept checks that a NodeSLO still has laterFields.
func laterKept(t *testing.T, name string) {
	t.Helper()
	got, err := dynamicClient.Resource(sloResource).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	patch := map[string]any{}
	if err := json.Unmarshal([]byte(laterFields), &patch); err != nil {
		t.Fatal(err)
	}
	for _, path := range [][]string{
		{"metadata", "annotations", "later.example.com/note"}, {"spec", "fieldOfALaterVersion", "a"},
		{"spec", "resourceUsedThresholdWithBE", "fieldOfALaterVersion"}, {"spec", "extensions", "theirs", "b"},
	} {
		want, _, _ := unstructured.NestedFieldNoCopy(patch, path...)
		if left, found, _ := unstructured.NestedFieldNoCopy(got.Object, path...); !found || fmt.Sprint(left) != fmt.Sprint(want) {
			t.Errorf("%v of NodeSLO %s is %v, want %v", path, name, left, want)
		}
	}
}

// laterKeyKept checks that what is kept of the configuration still has a key that no version known here reads.
func laterKeyKept(t *testing.T) {
	t.Helper()
	if got := lastGood(t).Data["later-config"]; got != "later" {
		t.Errorf("the key of a later version is %q in what is kept of the configuration", got)
	}
}

// setLaterKey writes a key that no version known here reads into what is kept of the configuration, or removes it.
func setLaterKey(t *testing.T, value string) {
	t.Helper()
	_, err := client.CoreV1().ConfigMaps(systemNamespace).Patch(context.WithoutCancel(t.Context()), configName+"-last-good", types.MergePatchType,
		[]byte(`{"data":{"later-config":`+value+`}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// still fails when managers write anything, but their lease and events, while the leader renews its lease twice.
func still(t *testing.T, machines []string) {
	t.Helper()
	admission := schema.GroupVersion{Group: "admissionregistration.k8s.io", Version: "v1"}
	histories := []*history{
		follow(t, admission.WithResource("mutatingwebhookconfigurations"), ""), follow(t, admission.WithResource("validatingwebhookconfigurations"), ""),
		follow(t, admission.WithResource("mutatingadmissionpolicies"), ""), follow(t, admission.WithResource("mutatingadmissionpolicybindings"), ""),
		follow(t, configMapResource, systemNamespace), follow(t, schema.GroupVersionResource{Version: "v1", Resource: "secrets"}, systemNamespace),
		follow(t, sloResource, ""),
	}
	nodes := follow(t, nodeResource, "")
	leaseRenewals(t, 2)
	for _, h := range histories {
		for name, versions := range h.catchUp(t) {
			if len(versions) > 1 {
				t.Errorf("%s %s was written %d times although nothing changed", h.kind.Resource, name, len(versions)-1)
			}
		}
	}
	versions := nodes.catchUp(t)
	for _, name := range machines {
		first := as[corev1.Node](t, versions[name][0])
		for _, version := range versions[name] {
			now := as[corev1.Node](t, version)
			if fmt.Sprint(now.Annotations, offerOf(now), extended(now)) != fmt.Sprint(first.Annotations, offerOf(first), extended(first)) {
				t.Errorf("node %s was written although nothing changed", name)
			}
		}
	}
}

// registered are the names of the mutating webhooks.
func registered(t *testing.T) []string {
	t.Helper()
	configuration, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "koordinator-admission", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, webhook := range configuration.Webhooks {
		names = append(names, webhook.Name)
	}
	return names
}

// hasPolicy reports whether the API server applies profiles by itself.
func hasPolicy(t *testing.T) bool {
	t.Helper()
	_, err := client.AdmissionregistrationV1().MutatingAdmissionPolicies().Get(t.Context(), policy.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

// TestManagersOfTwoVersionsDoNotFight runs a manager that lacks features beside the sandbox's, first as standby and then as
// leader, and back. Whoever leads decides alone; nothing is written while nothing changes; and what only the other version
// knows stays where it is.
func TestManagersOfTwoVersionsDoNotFight(t *testing.T) {
	const pool = "versions"
	backToTheSandbox(t)
	awaitAdmission(t)
	names := machines(t, pool, 2)
	namespace := freshSpace(t, "two-versions")
	batchProfile(t, namespace)
	sort := &arrival{namespace: namespace, check: wholeBatch("")}
	before := maps.Clone(keepConfiguration(t))
	before["later-config"] = `{"fieldOfALaterVersion": 1}`
	text := changed(t, before, map[string]any{"fieldOfALaterVersion": true}, map[string]any{"enable": true, "cpuSuppressThresholdPercent": 33, "fieldOfALaterVersion": 2})
	if err := editConfiguration(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	awaitRolledOut(t, parsed(t, text), names)
	if _, err := dynamicClient.Resource(sloResource).Patch(t.Context(), names[0], types.MergePatchType, []byte(laterFields), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	sandboxtest.Eventually(t, patience, func() error { return admitted(t, sort) })
	awaitNarrow(t)
	setLaterKey(t, `"later"`)
	t.Cleanup(func() { setLaterKey(t, "null") })
	newer := registered(t)

	older := startManager(t, managerFile(), "--node-admission=false", "--admission-policies=false", "--skip-mutating-resources")
	t.Run("the newer one leads", func(t *testing.T) { still(t, names) })

	replace := suspend(t)
	vacate(t)
	awaitLeader(t, older.webhooks)
	t.Run("the older one leads", func(t *testing.T) {
		sandboxtest.Eventually(t, patience, func() error {
			if hasPolicy(t) {
				return errors.New("the policy of the newer version is still there, and nobody keeps it in line with the profiles")
			}
			return nil
		})
		if got := registered(t); slices.Contains(got, "mutate-node-status.koordinator.sh") || slices.Contains(got, "overcommit-pod.koordinator.sh") {
			t.Errorf("webhooks %v are registered, of which the leader lacks some", got)
		}
		next := changed(t, text, map[string]any{"cpuReclaimThresholdPercent": 50, "fieldOfALaterVersion": true},
			map[string]any{"enable": false, "cpuSuppressThresholdPercent": 34, "cpuEvictThresholdPercent": 90, "fieldOfALaterVersion": 2})
		if err := editConfiguration(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		awaitRolledOut(t, parsed(t, next), names)
		replace()
		leaseRenewals(t, 1)
		// A leader keeps asking about all pods until it has settled, and then about each set of namespaces by itself.
		sandboxtest.Eventually(t, patience, func() error {
			if got := registered(t); !slices.Contains(got, "mutate-pod-2.koordinator.sh") {
				return fmt.Errorf("webhooks %v are registered; want one for each set of namespaces", got)
			}
			return nil
		})
		still(t, names)
		laterKept(t, names[0])
		laterKeyKept(t)
		now, err := client.CoreV1().ConfigMaps(systemNamespace).Get(t.Context(), configName, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(next, now.Data); diff != "" {
			t.Errorf("the configuration (-want +got):\n%s", diff)
		}
	})
	older.kill(t)
	vacate(t)
	awaitLeader(t, ownPort(t))
	t.Run("the newer one leads again", func(t *testing.T) {
		sandboxtest.Eventually(t, patience, func() error {
			if !hasPolicy(t) {
				return errors.New("there is no policy")
			}
			if diff := cmp.Diff(newer, registered(t)); diff != "" {
				return fmt.Errorf("webhooks (-want +got):\n%s", diff)
			}
			return admitted(t, sort)
		})
		laterKept(t, names[0])
		laterKeyKept(t)
	})
}
