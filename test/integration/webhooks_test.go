package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/test/profilecases"
	"koordinator.sh/koord/test/sandboxtest"
)

var (
	profileResource = configv1alpha1.GroupVersion.WithResource("clustercolocationprofiles")
	dryRun          = metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
)

// admissionCase is a case with its own namespace and profiles, so that all of them fit into one cluster.
type admissionCase struct {
	profilecases.Case
	namespace string
	profiles  []configv1alpha1.ClusterColocationProfile
	// base is the pod as the API server admits it without any profile.
	base *corev1.Pod
}

// admissionCases gives every case its namespace and asks what the API server makes of its pod without profiles.
func admissionCases(t *testing.T, prefix string) []admissionCase {
	t.Helper()
	var cases []admissionCase
	for i, test := range profilecases.All() {
		c := admissionCase{Case: test, namespace: fmt.Sprintf("%s-%02d", prefix, i)}
		labels := profilecases.NamespaceLabels()
		delete(labels, "kubernetes.io/metadata.name")
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.namespace, Labels: labels}}
		if _, err := client.CoreV1().Namespaces().Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = client.CoreV1().Namespaces().Delete(context.Background(), c.namespace, metav1.DeleteOptions{}) // the sandbox goes anyway
		})
		profiles, err := test.ReadProfiles()
		if err != nil {
			t.Fatal(err)
		}
		for j := range profiles {
			profiles[j].Name = c.namespace + "-" + profiles[j].Name
			only := profiles[j].Spec.NamespaceSelector.DeepCopy()
			if only == nil {
				only = &metav1.LabelSelector{}
			}
			only.MatchExpressions = append(only.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpIn, Values: []string{c.namespace},
			})
			profiles[j].Spec.NamespaceSelector = only
		}
		c.profiles = profiles
		cases = append(cases, c)
	}
	return cases
}

// create asks the API server to create the pod of the case in a namespace, without keeping it.
func (c *admissionCase) create(t *testing.T, namespace string) (*corev1.Pod, error) {
	t.Helper()
	pod, err := c.ReadPod(c.Pod)
	if err != nil {
		t.Fatal(err)
	}
	pod.Namespace, pod.Spec.Priority, pod.Spec.PreemptionPolicy = namespace, nil, nil
	return client.CoreV1().Pods(namespace).Create(t.Context(), pod, dryRun)
}

// want is the pod that the decision makes of what the API server admits without profiles.
func (c *admissionCase) want(t *testing.T) (*corev1.Pod, error) {
	t.Helper()
	labels := profilecases.NamespaceLabels()
	labels["kubernetes.io/metadata.name"] = c.namespace
	return colocationprofile.Decide(colocationprofile.Input{
		Pod: c.base, Namespace: c.namespace, NamespaceLabels: labels, Profiles: c.profiles,
		PriorityClasses: profilecases.PriorityClasses(), Chance: func(string) int { return c.Draw },
	}, nil)
}

// stored is what is compared of a pod: all but what is new with every request, and the status, which follows from the spec.
func stored(t *testing.T, pod *corev1.Pod) string {
	t.Helper()
	pod = pod.DeepCopy()
	pod.UID, pod.CreationTimestamp, pod.ResourceVersion, pod.ManagedFields = "", metav1.Time{}, "", nil
	pod.Status = corev1.PodStatus{}
	data, err := json.MarshalIndent(pod, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// check compares what the API server creates with what the decision says.
func (c *admissionCase) check(t *testing.T) error {
	t.Helper()
	got, err := c.create(t, c.namespace)
	if refusal := c.WantRefusal + c.WantError; refusal != "" {
		if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(refusal, `colocation profile "a": `)) {
			return fmt.Errorf("want a refusal with %q, got %v", refusal, err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	want, err := c.want(t)
	if err != nil {
		return err
	}
	if diff := cmp.Diff(stored(t, want), stored(t, got)); diff != "" {
		return fmt.Errorf("pod (-decision +API server):\n%s", diff)
	}
	return nil
}

// learn remembers what the API server makes of the pods of all cases in a namespace that admission leaves alone.
func learn(t *testing.T, cases []admissionCase) {
	t.Helper()
	for i := range cases {
		base, err := cases[i].create(t, metav1.NamespaceSystem)
		if err != nil {
			t.Fatalf("%s: %v", cases[i].Name, err)
		}
		base.Namespace = cases[i].namespace
		cases[i].base = base
	}
}

// awaitAdmission waits until the manager has registered itself and reviews what is sent to the API server, which admits it where
// the manager has not come back yet.
func awaitAdmission(t *testing.T) {
	t.Helper()
	sandboxtest.Eventually(t, patience, func() error {
		configuration, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "koordinator-admission", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if len(configuration.Webhooks) == 0 {
			return fmt.Errorf("%d webhooks", len(configuration.Webhooks))
		}
		if _, err = client.AdmissionregistrationV1().MutatingAdmissionPolicies().Get(t.Context(), policy.Name, metav1.GetOptions{}); err != nil {
			return err
		}
		garbage := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: configName}, Data: garbled()}
		if _, err = client.CoreV1().ConfigMaps(systemNamespace).Create(t.Context(), garbage, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); !apierrors.IsForbidden(err) {
			return fmt.Errorf("the manager does not review: %v", err)
		}
		return nil
	})
}

func TestPoliciesOfTheAPIServerGiveThePodOfTheDecision(t *testing.T) {
	awaitAdmission(t)
	cases := admissionCases(t, "policy-case")
	learn(t, cases)
	policies, bindings := client.AdmissionregistrationV1().MutatingAdmissionPolicies(), client.AdmissionregistrationV1().MutatingAdmissionPolicyBindings()
	for i := range cases {
		c := &cases[i]
		if c.WantWebhook {
			continue
		}
		// No profile exists as an object, so nothing but this policy changes the pod.
		compiled := policy.Compile(c.profiles, profilecases.PriorityClasses(), policy.Options{})
		compiled.Policy.Name, compiled.Binding.Name, compiled.Binding.Spec.PolicyName = c.namespace, c.namespace, c.namespace
		compiled.Policy.Spec.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": c.namespace}}
		if _, err := policies.Create(t.Context(), compiled.Policy, metav1.CreateOptions{}); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if _, err := bindings.Create(t.Context(), compiled.Binding, metav1.CreateOptions{}); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		t.Cleanup(func() {
			_ = bindings.Delete(context.Background(), c.namespace, metav1.DeleteOptions{}) // the sandbox goes anyway
			_ = policies.Delete(context.Background(), c.namespace, metav1.DeleteOptions{})
		})
	}
	for i := range cases {
		if cases[i].WantWebhook {
			continue
		}
		t.Run(cases[i].Name, func(t *testing.T) {
			sandboxtest.Eventually(t, patience, func() error { return cases[i].check(t) })
		})
	}
}

// createProfile makes a profile and deletes it after the test.
func createProfile(t *testing.T, profile *configv1alpha1.ClusterColocationProfile) {
	t.Helper()
	profile.APIVersion, profile.Kind = configv1alpha1.GroupVersion.String(), "ClusterColocationProfile"
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(profile)
	if err != nil {
		t.Fatal(err)
	}
	objects := dynamicClient.Resource(profileResource)
	if _, err := objects.Create(t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := objects.Delete(context.Background(), profile.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}

// certain reports whether no profile of the case leaves anything to chance.
func (c *admissionCase) certain() bool {
	for i := range c.profiles {
		percent, err := colocationprofile.Percent(c.profiles[i].Spec.Probability)
		if err == nil && percent > 0 && percent < 100 && !strings.Contains(c.Name, "for others") {
			return false
		}
	}
	return true
}

func TestProfilesGiveThePodOfTheDecision(t *testing.T) {
	awaitAdmission(t)
	cases := admissionCases(t, "profile-case")
	learn(t, cases)
	for i := range cases {
		for j := range cases[i].profiles {
			createProfile(t, &cases[i].profiles[j])
		}
	}
	for i := range cases {
		if !cases[i].certain() {
			continue
		}
		t.Run(cases[i].Name, func(t *testing.T) {
			sandboxtest.Eventually(t, patience, func() error { return cases[i].check(t) })
		})
	}
}

// batchProfile makes the pods of one namespace batch pods.
func batchProfile(t *testing.T, namespace string) {
	t.Helper()
	createProfile(t, &configv1alpha1.ClusterColocationProfile{
		ObjectMeta: metav1.ObjectMeta{Name: namespace},
		Spec: configv1alpha1.ClusterColocationProfileSpec{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			QoSClass:          "BE", PriorityClassName: "koord-batch",
		},
	})
}

func admittedPod(namespace string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: namespace, Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "registry.example.com/app:1",
			Resources: corev1.ResourceRequirements{Requests: amounts("cpu", "1")},
		}}},
	}
}

// webhookCondition is the condition under which the API server asks the mutating webhook.
func webhookCondition(t *testing.T) string {
	t.Helper()
	configuration, err := client.AdmissionregistrationV1().MutatingWebhookConfigurations().Get(t.Context(), "koordinator-admission", metav1.GetOptions{})
	if err != nil || len(configuration.Webhooks) == 0 {
		return ""
	}
	return configuration.Webhooks[0].MatchConditions[0].Expression
}

func TestPodsAreCreatedWhileTheManagerIsDown(t *testing.T) {
	awaitAdmission(t)
	const namespace = "manager-down"
	namespaceFor(t, namespace)
	batchProfile(t, namespace)
	sandboxtest.Eventually(t, patience, func() error {
		created, err := client.CoreV1().Pods(namespace).Create(t.Context(), admittedPod(namespace, nil), dryRun)
		if err != nil {
			return err
		}
		if created.Labels["koordinator.sh/qosClass"] != "BE" {
			return fmt.Errorf("labels are %v", created.Labels)
		}
		return nil
	})
	awaitSettled(t)
	pause(t, "koord-manager")
	tests := map[string]struct {
		namespace   string
		labels      map[string]string
		wantRefused bool
	}{
		"a pod without co-location":                                  {namespace: "default"},
		"a pod of kube-system, even with co-location":                {namespace: "kube-system", labels: map[string]string{"koordinator.sh/qosClass": "LS"}},
		"a pod of the system's own namespace, even with co-location": {namespace: "koordinator-system", labels: map[string]string{"koordinator.sh/qosClass": "LS"}},
		"a pod that the API server judges by itself":                 {namespace: "default", labels: map[string]string{"koordinator.sh/qosClass": "LS"}},
		"a pod in a quota is not let in unchecked":                   {namespace: "default", labels: map[string]string{"quota.scheduling.koordinator.sh/name": "team"}, wantRefused: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := client.CoreV1().Pods(test.namespace).Create(t.Context(), admittedPod(test.namespace, test.labels), dryRun)
			if (err != nil) != test.wantRefused {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// awaitSettled waits until the webhook is asked about no more pods than it has to be, and nothing more is written.
func awaitSettled(t *testing.T) {
	t.Helper()
	list, err := dynamicClient.Resource(profileResource).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var profiles configv1alpha1.ClusterColocationProfileList
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(list.UnstructuredContent(), &profiles); err != nil {
		t.Fatal(err)
	}
	want := policy.Compile(profiles.Items, profilecases.PriorityClasses(), policy.Options{}).Scopes(nil)[0].Condition
	version, since := "", time.Now()
	sandboxtest.Eventually(t, patience, func() error {
		live, err := client.AdmissionregistrationV1().MutatingAdmissionPolicies().Get(t.Context(), policy.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if live.ResourceVersion != version {
			version, since = live.ResourceVersion, time.Now()
		}
		if got := webhookCondition(t); got != want {
			return fmt.Errorf("the webhook is asked about pods with %s, want %s", got, want)
		}
		if age := time.Since(since); age < 10*time.Second {
			return fmt.Errorf("the policy was written %s ago", age)
		}
		return nil
	})
}

func TestPodsThatCannotBeAreRefusedWithACode(t *testing.T) {
	awaitAdmission(t)
	const namespace = "validated-pods"
	namespaceFor(t, namespace)
	tests := map[string]struct {
		labels   map[string]string
		class    string
		requests corev1.ResourceList
		wantText string
	}{
		"a batch pod": {labels: map[string]string{"koordinator.sh/qosClass": "BE"}, class: "koord-batch", requests: amounts("kubernetes.io/batch-cpu", "1k")},
		"BE in the prod band": {
			labels: map[string]string{"koordinator.sh/qosClass": "BE"}, class: "koord-prod",
			wantText: "koordinator.sh/qosClass=BE and priorityClass=koord-prod cannot be used in combination (KOORD1303)",
		},
		"batch resources without a class": {
			requests: amounts("kubernetes.io/batch-cpu", "1k"), wantText: "must specify koordinator QoS BE with koordinator colocation resources (KOORD1304)",
		},
		"LSR with a fraction of a CPU": {
			labels: map[string]string{"koordinator.sh/qosClass": "LSR"}, class: "koord-prod", requests: amounts("cpu", "1500m"), wantText: "(KOORD1111)",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			sandboxtest.Eventually(t, patience, func() error {
				pod := admittedPod(namespace, test.labels)
				pod.Spec.PriorityClassName = test.class
				if test.requests != nil {
					pod.Spec.Containers[0].Resources.Requests = test.requests
				}
				_, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, dryRun)
				if test.wantText == "" {
					return err
				}
				if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), test.wantText) {
					return fmt.Errorf("error is %v, want %q", err, test.wantText)
				}
				return nil
			})
		})
	}
	t.Run("the QoS class of a pod that exists", func(t *testing.T) {
		pod := admittedPod(namespace, map[string]string{"koordinator.sh/qosClass": "LS"})
		pod.Spec.NodeSelector = map[string]string{"no": "node"}
		if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		change := func(labels string) error {
			_, err := client.CoreV1().Pods(namespace).Patch(t.Context(), "pod", "application/merge-patch+json",
				[]byte(`{"metadata":{"labels":`+labels+`}}`), metav1.PatchOptions{})
			return err
		}
		if err := change(`{"mine":"1"}`); err != nil {
			t.Errorf("another label: %v", err)
		}
		if err := change(`{"koordinator.sh/qosClass":"BE"}`); err == nil || !strings.Contains(err.Error(), "KOORD1305") {
			t.Errorf("the QoS class: %v", err)
		}
	})
}

// TestProfilesReachPodsThatExist has a manager lead with the flag of its binary and the role of the chart's value.
func TestProfilesReachPodsThatExist(t *testing.T) {
	const namespace = "existing-pods"
	namespaceFor(t, namespace)
	pod := admittedPod(namespace, map[string]string{"app": "old"})
	pod.Spec.NodeName = "sim-0001"
	if _, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	allow(t, map[string]any{"admission": map[string]any{"existingPods": true}})
	backToTheSandbox(t)
	suspend(t)
	manager := startManager(t, managerFile(), "--colocation-profile-controller")
	vacate(t)
	awaitLeader(t, manager.webhooks)
	createProfile(t, &configv1alpha1.ClusterColocationProfile{
		ObjectMeta: metav1.ObjectMeta{Name: namespace, Labels: map[string]string{"config.koordinator.sh/controller-managed": "true"}},
		Spec: configv1alpha1.ClusterColocationProfileSpec{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			Labels:            map[string]string{"added": "1", "koordinator.sh/qosClass": "BE"}, LabelKeysMapping: map[string]string{"app": "copy"},
		},
	})
	want := map[string]string{"app": "old", "added": "1", "copy": "old"}
	sandboxtest.Eventually(t, patience, func() error {
		live, err := client.CoreV1().Pods(namespace).Get(t.Context(), "pod", metav1.GetOptions{})
		if err != nil {
			return err
		}
		// The API server adds the topology of the node.
		maps.DeleteFunc(live.Labels, func(key, _ string) bool { return strings.HasPrefix(key, "topology.kubernetes.io/") })
		if diff := cmp.Diff(want, live.Labels); diff != "" {
			return fmt.Errorf("labels (-want +got):\n%s", diff)
		}
		return nil
	})
}

// namespaceFor makes a namespace for one test.
func namespaceFor(t *testing.T, name string) {
	t.Helper()
	sandboxtest.Created(t, patience, func() error {
		_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	})
	t.Cleanup(func() {
		_ = client.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}) // the sandbox goes anyway
	})
}

func amounts(name, amount string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(amount)}
}
