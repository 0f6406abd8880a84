package attack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"koordinator.sh/koord/decision/admission/protection"
	"koordinator.sh/koord/test/sandboxtest"
)

// soon is how long it may take until what was taken away is back, or reported as missing.
const soon = 30 * time.Second

// object is the client of one protection.
type object struct {
	dynamic.ResourceInterface
	kind, name string
}

func protectionOf(t *testing.T, kind, name string) object {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	resource := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: protection.Resource(kind)}
	return object{client.Resource(resource), kind, name}
}

// content is what of it matters.
func (o object) content(ctx context.Context) (map[string]any, error) {
	live, err := o.Get(ctx, o.name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	out := maps.Clone(live.Object)
	maps.DeleteFunc(out, func(field string, _ any) bool { return field != "spec" && field != "webhooks" })
	return out, nil
}

// version of the object, which every write changes.
func (o object) version(t *testing.T) string {
	t.Helper()
	live, err := o.Get(t.Context(), o.name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return live.GetResourceVersion()
}

// unchanged is how long the manager must have left the objects alone: while its policies change, the webhooks ask for more.
const unchanged = 8 * time.Second

// settled waits until the objects are there and were not changed for a while, and returns what of them matters.
func settled(t *testing.T, objects map[string]object) map[string]map[string]any {
	t.Helper()
	var last map[string]map[string]any
	since := time.Now()
	sandboxtest.Eventually(t, patience, func() error {
		all := map[string]map[string]any{}
		for key, o := range objects {
			now, err := o.content(t.Context())
			if err != nil {
				return err
			}
			if webhooks, _ := now["webhooks"].([]any); now["spec"] == nil && len(webhooks) == 0 {
				return fmt.Errorf("%s has no content", key)
			}
			all[key] = now
		}
		if diff := cmp.Diff(last, all); diff != "" {
			last, since = all, time.Now()
			return fmt.Errorf("the objects change:\n%s", diff)
		}
		if age := time.Since(since); age < unchanged {
			return fmt.Errorf("the objects changed %s ago", age)
		}
		return nil
	})
	return last
}

// is waits until what of the object matters is what is wanted.
func (o object) is(t *testing.T, want map[string]any, within time.Duration) {
	t.Helper()
	sandboxtest.Eventually(t, within, func() error {
		got, err := o.content(t.Context())
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("it is not as it should be (-want +got):\n%s", diff)
		}
		return nil
	})
}

// patched changes it by a JSON patch, as an administrator might.
func patched(patch string) func(context.Context, object) error {
	return func(ctx context.Context, o object) error {
		_, err := o.Patch(ctx, o.name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubectl-edit"})
		return err
	}
}

func deleted(ctx context.Context, o object) error {
	return o.Delete(ctx, o.name, metav1.DeleteOptions{})
}

// withProfile makes a colocation profile that the API server's policy can apply.
func withProfile(t *testing.T) {
	t.Helper()
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	profiles := client.Resource(schema.GroupVersionResource{Group: "config.koordinator.sh", Version: "v1alpha1", Resource: "clustercolocationprofiles"})
	profile := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "config.koordinator.sh/v1alpha1", "kind": "ClusterColocationProfile", "metadata": map[string]any{"name": "guarded"},
		"spec": map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"guarded": "true"}}, "labels": map[string]any{"a": "b"}},
	}}
	if _, err := profiles.Create(t.Context(), profile, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := profiles.Delete(context.Background(), "guarded", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// TestTheManagerPutsBackWhatItKeeps within seconds, whatever was done to it.
func TestTheManagerPutsBackWhatItKeeps(t *testing.T) {
	withProfile(t)
	const admission, labels, profiles = "koordinator-admission", "koordinator-pod-labels", "koordinator-colocation-profiles"
	attempts := map[string]struct {
		kind, name string
		do         func(context.Context, object) error
	}{
		"the policy of labels is deleted":         {protection.Policy, labels, deleted},
		"its binding is deleted":                  {protection.Binding, labels, deleted},
		"its binding only audits":                 {protection.Binding, labels, patched(`[{"op":"replace","path":"/spec/validationActions","value":["Audit"]}]`)},
		"its binding leaves a namespace out":      {protection.Binding, labels, patched(`[{"op":"add","path":"/spec/matchResources","value":{"namespaceSelector":{"matchLabels":{"a":"b"}}}}]`)},
		"its policy ignores failures":             {protection.Policy, labels, patched(`[{"op":"replace","path":"/spec/failurePolicy","value":"Ignore"}]`)},
		"its policy lets all through":             {protection.Policy, labels, patched(`[{"op":"replace","path":"/spec/validations/0/expression","value":"true"}]`)},
		"its policy gets a condition":             {protection.Policy, labels, patched(`[{"op":"add","path":"/spec/matchConditions","value":[{"name":"never","expression":"false"}]}]`)},
		"the policy of profiles is deleted":       {protection.MutatingPolicy, profiles, deleted},
		"the binding of profiles is deleted":      {protection.MutatingBinding, profiles, deleted},
		"the policy of profiles gets a condition": {protection.MutatingPolicy, profiles, patched(`[{"op":"add","path":"/spec/matchConditions","value":[{"name":"never","expression":"false"}]}]`)},
		"all mutating webhooks are removed":       {protection.MutatingWebhooks, admission, patched(`[{"op":"remove","path":"/webhooks"}]`)},
		"all validating webhooks are removed":     {protection.ValidatingWebhooks, admission, patched(`[{"op":"remove","path":"/webhooks"}]`)},
		"a validating webhook ignores failures":   {protection.ValidatingWebhooks, admission, patched(`[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"Ignore"}]`)},
		"a validating webhook gets a condition":   {protection.ValidatingWebhooks, admission, patched(`[{"op":"add","path":"/webhooks/0/matchConditions","value":[{"name":"never","expression":"false"}]}]`)},
		"a mutating webhook gets a condition":     {protection.MutatingWebhooks, admission, patched(`[{"op":"add","path":"/webhooks/0/matchConditions/-","value":{"name":"never","expression":"false"}}]`)},
		"a validating webhook trusts nobody":      {protection.ValidatingWebhooks, admission, patched(`[{"op":"replace","path":"/webhooks/0/clientConfig/caBundle","value":"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo="}]`)},
		"a validating webhook has no namespaces":  {protection.ValidatingWebhooks, admission, patched(`[{"op":"replace","path":"/webhooks/0/namespaceSelector","value":{"matchLabels":{"a":"b"}}}]`)},
		"a webhook of somebody else is added": {protection.ValidatingWebhooks, admission, func(ctx context.Context, o object) error {
			live, err := o.Get(ctx, o.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			webhooks, _ := live.Object["webhooks"].([]any)
			other, _ := json.Marshal(webhooks[0]) // it came as JSON
			added := map[string]any{}
			if err := json.Unmarshal(other, &added); err != nil {
				return err
			}
			added["name"] = "other.example.com"
			live.Object["webhooks"] = append(webhooks, added)
			_, err = o.Update(ctx, live, metav1.UpdateOptions{FieldManager: "kubectl-edit"})
			return err
		}},
	}
	objects := map[string]object{}
	for _, attempt := range attempts {
		objects[attempt.kind+" "+attempt.name] = protectionOf(t, attempt.kind, attempt.name)
	}
	want := settled(t, objects)
	for _, name := range slices.Sorted(maps.Keys(attempts)) {
		attempt := attempts[name]
		t.Run(name, func(t *testing.T) {
			key := attempt.kind + " " + attempt.name
			o := objects[key]
			o.is(t, want[key], patience) // after another attempt the webhooks may still ask for more
			before := o.version(t)
			if err := attempt.do(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			o.is(t, want[key], soon)
			if after := o.version(t); after == before {
				t.Errorf("the object has version %s as before, so this shows nothing", after)
			}
			t.Logf("back after %s", time.Since(begun).Round(100*time.Millisecond))
		})
	}
}

// findings are those of `koordctl status` with one of the codes, as code and message.
func findings(ctx context.Context, codes ...string) ([]string, error) {
	result, err := shared.Koordctl(ctx, "status", "-o", "json")
	if err != nil {
		return nil, err
	}
	var status struct {
		Findings []struct{ Code, Message string } `json:"findings"`
	}
	if err := json.Unmarshal([]byte(result.Stdout), &status); err != nil {
		return nil, fmt.Errorf("%w: %s %s", err, result.Stdout, result.Stderr)
	}
	var out []string
	for _, found := range status.Findings {
		if slices.Contains(codes, found.Code) {
			out = append(out, found.Code+" "+found.Message)
		}
	}
	return out, nil
}

// eventOf waits for an event with a reason and a part of its message, newer than begun.
func eventOf(t *testing.T, namespace, reason, message string, begun time.Time) {
	t.Helper()
	sandboxtest.Eventually(t, soon, func() error {
		events, err := admin.EventsV1().Events(namespace).List(context.Background(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range events.Items {
			if event := &events.Items[i]; event.Reason == reason && strings.Contains(event.Note, message) && !event.CreationTimestamp.Time.Before(begun.Add(-time.Second)) {
				return nil
			}
		}
		return fmt.Errorf("no event %s with %q in %s", reason, message, namespace)
	})
}

// systemNamespace is that of the release.
const systemNamespace = "koordinator-system"

// TestWhatTheManagerMayNotPutBackIsTold by status and by an event, and no more once it is back.
func TestWhatTheManagerMayNotPutBackIsTold(t *testing.T) {
	const allocations = "koordinator-allocations"
	codes := []string{"KOORD0303", "KOORD0304"}
	attempts := map[string]struct {
		kind, name            string
		do                    func(context.Context, object) error
		wantReason, wantNamed string
	}{
		"the policy is deleted":               {protection.Policy, allocations, deleted, "ProtectionMissing", `KOORD0303 ValidatingAdmissionPolicy "koordinator-allocations" does not exist`},
		"the binding is deleted":              {protection.Binding, allocations, deleted, "ProtectionMissing", `KOORD0303 ValidatingAdmissionPolicyBinding "koordinator-allocations" does not exist`},
		"the binding only audits":             {protection.Binding, allocations, patched(`[{"op":"replace","path":"/spec/validationActions","value":["Audit"]}]`), "ProtectionWeakened", "KOORD0304"},
		"the policy lets all through":         {protection.Policy, allocations, patched(`[{"op":"replace","path":"/spec/validations/0/expression","value":"true"}]`), "ProtectionWeakened", "KOORD0304"},
		"the policy gets another condition":   {protection.Policy, allocations, patched(`[{"op":"add","path":"/spec/matchConditions/-","value":{"name":"never","expression":"false"}}]`), "ProtectionWeakened", "KOORD0304"},
		"the validating webhooks are deleted": {protection.ValidatingWebhooks, "koordinator-admission", deleted, "ProtectionMissing", `KOORD0303 ValidatingWebhookConfiguration "koordinator-admission" does not exist`},
	}
	begun := time.Now() // events that are alike become one
	for _, name := range slices.Sorted(maps.Keys(attempts)) {
		attempt := attempts[name]
		t.Run(name, func(t *testing.T) {
			o := protectionOf(t, attempt.kind, attempt.name)
			before, err := o.Get(t.Context(), o.name, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if found, err := findings(t.Context(), codes...); err != nil || len(found) > 0 {
				t.Fatalf("before it: findings %q, %v", found, err)
			}
			if err := attempt.do(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { putBack(t, o, before, begun) })
			found, err := findings(t.Context(), codes...)
			if err != nil || len(found) != 1 || !strings.HasPrefix(found[0], attempt.wantNamed) {
				t.Errorf("findings %q, %v, want one that begins with %q", found, err, attempt.wantNamed)
			}
			eventOf(t, systemNamespace, attempt.wantReason, fmt.Sprintf("%s %q", attempt.kind, attempt.name), begun)
		})
	}
}

// putBack makes an object as it was, and waits until that is reported.
func putBack(t *testing.T, o object, before *unstructured.Unstructured, begun time.Time) {
	ctx := context.Background()
	again := before.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"} {
		unstructured.RemoveNestedField(again.Object, "metadata", field)
	}
	if live, err := o.Get(ctx, o.name, metav1.GetOptions{}); err == nil {
		again.SetResourceVersion(live.GetResourceVersion())
		if _, err := o.Update(ctx, again, metav1.UpdateOptions{}); err != nil {
			t.Error(err)
		}
	} else if _, err := o.Create(ctx, again, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
	sandboxtest.Eventually(t, soon, func() error {
		found, err := findings(ctx, "KOORD0303", "KOORD0304")
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("findings %q after it was put back", found)
		}
		return err
	})
	eventOf(t, systemNamespace, "ProtectionRestored", o.kind, begun)
}

// TestAnAgentThatDoesNotEnforceLosesItsOffer within seconds, and gets it back.
func TestAnAgentThatDoesNotEnforceLosesItsOffer(t *testing.T) {
	const node = "sim-0001"
	offers := func(ctx context.Context) (bool, error) {
		live, err := admin.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		_, offered := live.Status.Allocatable[corev1.ResourceName("kubernetes.io/batch-cpu")]
		return offered, nil
	}
	await := func(want bool, within time.Duration) time.Duration {
		t.Helper()
		begun := time.Now()
		sandboxtest.Eventually(t, within, func() error {
			got, err := offers(context.Background())
			if err == nil && got != want {
				err = fmt.Errorf("batch is offered: %t, want %t", got, want)
			}
			return err
		})
		return time.Since(begun).Round(100 * time.Millisecond)
	}
	report := func(value string) {
		t.Helper()
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"simulation.koordinator.sh/report":%s}}}`, value)
		if _, err := admin.CoreV1().Nodes().Patch(context.Background(), node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	await(true, patience)
	begun := time.Now()
	report(`"unenforced"`)
	t.Cleanup(func() { report("null") })
	t.Logf("withdrawn after %s", await(false, 10*time.Second))
	eventOf(t, metav1.NamespaceDefault, "AgentNotEnforcing", "[KOORD0302] Node sim-0001: ", begun)
	found, err := findings(t.Context(), "KOORD0302")
	want := "KOORD0302 koordlet cannot limit best-effort pods on sim-0001 (OriginalsUnreadable): no batch or mid resources are offered there"
	if err != nil || len(found) != 1 || found[0] != want {
		t.Errorf("findings %q, %v, want %q", found, err, want)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"explain node": {[]string{"explain", "node", node}, "koordlet cannot limit best-effort pods: OriginalsUnreadable: read what was there before the agent"},
		"top nodes":    {[]string{"top", "nodes", node}, "(NotEnforcing)"},
		"status":       {[]string{"status"}, "node enforcement"},
	} {
		result, err := shared.Koordctl(t.Context(), tc.args...)
		if err != nil || !strings.Contains(result.Stdout+result.Stderr, tc.want) {
			t.Errorf("%s: %v, want it to say %q:\n%s%s", name, err, tc.want, result.Stdout, result.Stderr)
		}
	}
	report("null")
	t.Logf("given back after %s", await(true, 10*time.Second))
	eventOf(t, metav1.NamespaceDefault, "AgentEnforcing", "again", begun)
	if found, err := findings(t.Context(), "KOORD0302"); err != nil || len(found) > 0 {
		t.Errorf("findings %q, %v after it enforces again", found, err)
	}
}

// TestATenantIsToldUnknownAndNotFine of what it may not look at.
func TestATenantIsToldUnknownAndNotFine(t *testing.T) {
	result, err := shared.Koordctl(t.Context(), "status", "-o", "json", "--as", tenantUser)
	if err != nil {
		t.Fatal(err)
	}
	var status struct {
		Protections struct {
			State   string `json:"state"`
			InForce *int   `json:"inForce"`
		} `json:"protections"`
		Incomplete []string `json:"incomplete"`
	}
	if err := json.Unmarshal([]byte(result.Stdout), &status); err != nil {
		t.Fatalf("%v: %s%s", err, result.Stdout, result.Stderr)
	}
	if status.Protections.State != "Unknown" || status.Protections.InForce != nil {
		t.Errorf("protections are %+v, want Unknown", status.Protections)
	}
	if !slices.ContainsFunc(status.Incomplete, func(why string) bool { return strings.Contains(why, protection.ConfigMapName) }) {
		t.Errorf("%q does not say that the protections could not be seen", status.Incomplete)
	}
}
