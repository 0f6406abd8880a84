package integration

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	"koordinator.sh/koord/decision/admission/colocationprofile/policy"
	"koordinator.sh/koord/test/profilecases"
	"koordinator.sh/koord/test/sandboxtest"
)

// arrival is a sort of pods that are created all the time, and what must be true of those that are let in.
type arrival struct {
	name, namespace string
	labels          map[string]string
	// always says that no pod of the sort may ever be refused.
	always bool
	check  func(*corev1.Pod) error

	mutex            sync.Mutex
	created, refused int
	// wrong is the first thing that must not be.
	wrong error
}

// run creates pods of the sort, and deletes those that were created, until it is stopped.
func (a *arrival) run(ctx context.Context, stop <-chan struct{}) error {
	return storm(ctx, stop, 100*time.Millisecond, func(int) error {
		pod := admittedPod(a.namespace, a.labels)
		pod.Name, pod.GenerateName = "", "arrival-"
		pod.Spec.NodeSelector = map[string]string{"no": "node"}
		created, err := client.CoreV1().Pods(a.namespace).Create(ctx, pod, metav1.CreateOptions{})
		a.count(created, err)
		if err != nil {
			return nil // it is counted
		}
		return remove(ctx, created.Namespace, created.Name)
	})
}

func (a *arrival) count(pod *corev1.Pod, err error) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	wrong := error(nil)
	switch {
	case err == nil:
		a.created++
		wrong = a.check(pod)
	case a.always:
		wrong = fmt.Errorf("refused: %w", err)
	case !strings.Contains(err.Error(), ".koordinator.sh"):
		wrong = fmt.Errorf("the refusal does not name the webhook: %w", err)
	}
	if err != nil {
		a.refused++
	}
	if a.wrong == nil {
		a.wrong = wrong
	}
}

func (a *arrival) firstWrong() error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.wrong
}

func (a *arrival) counts() (created, refused int) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.created, a.refused
}

// arrivals are pods of every sort: without co-location, with it but in namespaces that admission leaves alone, with it by
// their own labels, by a profile that the API server can apply by itself, and by one that only the webhook can.
func arrivals(t *testing.T, prefix string) []*arrival {
	t.Helper()
	plain, byPolicy, byWebhook := freshSpace(t, prefix+"-plain"), freshSpace(t, prefix+"-policy"), freshSpace(t, prefix+"-webhook")
	batchProfile(t, byPolicy)
	createProfile(t, &configv1alpha1.ClusterColocationProfile{
		ObjectMeta: metav1.ObjectMeta{Name: byWebhook},
		Spec: configv1alpha1.ClusterColocationProfileSpec{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": byWebhook}},
			QoSClass:          "BE", PriorityClassName: "koord-batch",
			Patch: runtime.RawExtension{Raw: []byte(`{"spec":{"containers":[{"name":"main","env":[{"name":"MODE","value":"batch"}]}]}}`)},
		},
	})
	colocated := map[string]string{"koordinator.sh/qosClass": "LS"}
	unchanged := func(pod *corev1.Pod) error {
		if requested := pod.Spec.Containers[0].Resources.Requests; requested.Cpu().String() != "1" {
			return fmt.Errorf("the pod requests %v", requested)
		}
		return nil
	}
	return []*arrival{
		{name: "without co-location", namespace: plain, always: true, check: unchanged},
		{name: "kube-system", namespace: metav1.NamespaceSystem, labels: colocated, always: true, check: unchanged},
		{name: "the system's own namespace", namespace: systemNamespace, labels: colocated, always: true, check: unchanged},
		{name: "with labels that the API server judges", namespace: plain, labels: colocated, always: true, check: unchanged},
		{name: "in a quota", namespace: plain, labels: map[string]string{"quota.scheduling.koordinator.sh/name": "outage"}, check: unchanged},
		{name: "by a policy", namespace: byPolicy, always: true, check: wholeBatch("")},
		{name: "by the webhook", namespace: byWebhook, check: wholeBatch("MODE")},
	}
}

// freshSpace makes a namespace with a name that was never used: one that follows another of its name may be without a service
// account for minutes.
func freshSpace(t *testing.T, prefix string) string {
	t.Helper()
	return space(t, fmt.Sprintf("%s-%x", prefix, time.Now().UnixNano()))
}

// wholeBatch checks that a pod is a batch pod in every respect, with a variable of its environment unless that is empty.
func wholeBatch(variable string) func(*corev1.Pod) error {
	return func(pod *corev1.Pod) error {
		main := pod.Spec.Containers[0]
		amount := main.Resources.Requests["kubernetes.io/batch-cpu"]
		_, cpu := main.Resources.Requests[corev1.ResourceCPU]
		_, said := pod.Annotations["node.koordinator.sh/extended-resource-spec"]
		if pod.Labels["koordinator.sh/qosClass"] != "BE" || pod.Spec.PriorityClassName != "koord-batch" || *pod.Spec.Priority != 5500 ||
			amount.Value() != 1000 || cpu || !said || (variable != "" && (len(main.Env) != 1 || main.Env[0].Name != variable)) {
			return fmt.Errorf("half a batch pod: labels %v, annotations %v, priority %s %d, requests %v, environment %v",
				pod.Labels, pod.Annotations, pod.Spec.PriorityClassName, *pod.Spec.Priority, main.Resources.Requests, main.Env)
		}
		return nil
	}
}

// awaitNarrow waits until the API server asks the webhook about no more pods than it has to, so that it applies the other
// profiles by itself.
func awaitNarrow(t *testing.T) {
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
	sandboxtest.Eventually(t, patience, func() error {
		if got := webhookCondition(t); got != want {
			return fmt.Errorf("the webhook is asked about pods with %s, want %s", got, want)
		}
		return nil
	})
}

// awaitArrivals waits until more pods of every sort that may be refused were created or refused, and more of the others were
// created.
func awaitArrivals(t *testing.T, sorts []*arrival, open bool) {
	t.Helper()
	type counted struct{ created, refused int }
	before := make([]counted, len(sorts))
	for i, a := range sorts {
		before[i].created, before[i].refused = a.counts()
	}
	const more = 2
	sandboxtest.Eventually(t, patience, func() error {
		for i, a := range sorts {
			created, refused := a.counts()
			created, refused = created-before[i].created, refused-before[i].refused
			if a.always || open {
				refused = more
			} else {
				created = more
			}
			if created < more || refused < more {
				return fmt.Errorf("pods %s: %d more were created and %d refused, want %d (%v)", a.name, created, refused, more, a.firstWrong())
			}
		}
		return nil
	})
}

// checkArrivals reports what was wrong with any pod.
func checkArrivals(t *testing.T, sorts []*arrival) {
	t.Helper()
	for _, a := range sorts {
		created, refused := a.counts()
		t.Logf("pods %s: %d created, %d refused", a.name, created, refused)
		if wrong := a.firstWrong(); wrong != nil {
			t.Errorf("pods %s: %v", a.name, wrong)
		}
	}
}

// arrive creates pods of every sort until the function that it returns is called, and checks them then. It begins when the API
// server asks the webhook about no more pods than it has to, and pods of every sort are let in.
func arrive(t *testing.T, sorts []*arrival) (stop func()) {
	t.Helper()
	awaitNarrow(t)
	awaitLabelPolicy(t)
	var storms []func(context.Context, <-chan struct{}) error
	for _, a := range sorts {
		sandboxtest.Eventually(t, patience, func() error { return admitted(t, a) })
		storms = append(storms, a.run)
	}
	end := background(t, storms...)
	awaitArrivals(t, sorts, true)
	return func() {
		t.Helper()
		end()
		checkArrivals(t, sorts)
	}
}

// TestPodsAreCreatedWhileBothManagersAreDown creates pods of every sort while one manager hangs and the other one, whom the
// API server asks, is killed, and until one is back.
func TestPodsAreCreatedWhileBothManagersAreDown(t *testing.T) {
	backToTheSandbox(t)
	awaitAdmission(t)
	sorts := arrivals(t, "outage")
	second := startManager(t, managerFile())
	replace := suspend(t)
	vacate(t)
	awaitLeader(t, second.webhooks)
	stop := arrive(t, sorts)
	second.kill(t)
	awaitArrivals(t, sorts, false)
	replace()
	vacate(t)
	awaitLeader(t, ownPort(t))
	awaitArrivals(t, sorts, true)
	stop()
}

// admitted tries a pod of a sort.
func admitted(t *testing.T, a *arrival) error {
	t.Helper()
	pod, err := client.CoreV1().Pods(a.namespace).Create(t.Context(), admittedPod(a.namespace, a.labels), dryRun)
	if err != nil {
		return err
	}
	return a.check(pod)
}
