package eviction

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"koordinator.sh/koord/api/configuration"
	"koordinator.sh/koord/decision/nodeqos/evictionbudget"
)

const agent = "system:serviceaccount:koordinator-system:koordlet"

// replica of the manager over a cluster that others share.
func replica(cluster client.Client, now time.Time, percent int) *Handler {
	return &Handler{
		Decoder: admission.NewDecoder(scheme.Scheme), Agent: agent, OwnNode: true, Cached: cluster, Live: cluster,
		Budget: &Budget{
			Client: cluster, Live: cluster, Namespace: configuration.DefaultNamespace, Percent: percent, Events: events.NewFakeRecorder(100), Clock: clocktesting.NewFakePassiveClock(now),
		},
	}
}

func podOn(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name + "-uid")}, Spec: corev1.PodSpec{NodeName: node}}
}

// request for an eviction as a user with a token of a node asks for it.
func request(t *testing.T, user, node, pod string, options *metav1.DeleteOptions) admission.Request {
	t.Helper()
	raw, err := json.Marshal(&policyv1.Eviction{
		TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "Eviction"}, ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: pod}, DeleteOptions: options,
	})
	if err != nil {
		t.Fatal(err)
	}
	out := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create, SubResource: "eviction", Namespace: "shop", Name: pod, UserInfo: authenticationv1.UserInfo{Username: user},
	}}
	out.Object.Raw = raw
	if node != "" {
		out.UserInfo.Extra = map[string]authenticationv1.ExtraValue{serviceaccount.NodeNameKey: {node}}
	}
	return out
}

func TestAgentsEvictPodsOfTheirNode(t *testing.T) {
	other := types.UID("other")
	tests := map[string]struct {
		user, node, pod string
		options         *metav1.DeleteOptions
		anyNode         bool
		want            string
	}{
		"a pod of its node":                           {user: agent, node: "a", pod: "here"},
		"a pod of another node":                       {user: agent, node: "a", pod: "there", want: "KOORD1312"},
		"a pod without a node":                        {user: agent, node: "a", pod: "waiting", want: "KOORD1312"},
		"a pod of another node, in a dry run":         {user: agent, node: "a", pod: "there", options: &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, want: "KOORD1312"},
		"a pod of another node, by a UID that is not": {user: agent, node: "a", pod: "there", options: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}, want: "KOORD1312"},
		"by a token of no node":                       {user: agent, pod: "here", want: "KOORD1312"},
		"a pod that is gone":                          {user: agent, node: "a", pod: "gone"},
		"somebody else's eviction":                    {user: "alice", pod: "there"},
		"one agent for all nodes":                     {user: agent, pod: "there", anyNode: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := fake.NewClientBuilder().WithObjects(podOn("here", "a"), podOn("there", "b"), podOn("waiting", "")).Build()
			h := replica(cluster, time.Now(), 10)
			h.OwnNode = !test.anyNode
			response := h.Handle(t.Context(), request(t, test.user, test.node, test.pod, test.options))
			if response.Allowed != (test.want == "") || !strings.Contains(response.Result.Message, test.want) {
				t.Errorf("allowed %t with %q, want %q", response.Allowed, response.Result.Message, test.want)
			}
		})
	}
}

// TestReplicasShareOneBudget has two replicas asked by many agents at once.
func TestReplicasShareOneBudget(t *testing.T) {
	cluster, now := fake.NewClientBuilder().WithObjects(podOn("p", "a")).Build(), time.Now()
	replicas := []*Handler{replica(cluster, now, 10), replica(cluster, now, 10)}
	var admitted, refused atomic.Int32
	var group sync.WaitGroup
	for i := range 3 * evictionbudget.Least {
		asked := request(t, agent, "a", "p", nil)
		group.Go(func() {
			for {
				response := replicas[i%2].Handle(t.Context(), asked)
				switch {
				case response.Allowed:
					admitted.Add(1)
				case response.Result.Code == http.StatusTooManyRequests:
					refused.Add(1)
				default: // others were counted at the same time
					continue
				}
				return
			}
		})
	}
	group.Wait()
	if admitted.Load() != evictionbudget.Least || refused.Load() != 2*evictionbudget.Least {
		t.Errorf("%d evictions are admitted and %d refused, want %d and %d", admitted.Load(), refused.Load(), evictionbudget.Least, 2*evictionbudget.Least)
	}
	later := replica(cluster, now.Add(evictionbudget.Window+time.Minute), 10)
	if response := later.Handle(t.Context(), request(t, agent, "a", "p", nil)); !response.Allowed {
		t.Errorf("refused with %q after the window", response.Result.Message)
	}
}

func TestADamagedRecordIsBegunAnew(t *testing.T) {
	damaged := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: configuration.DefaultNamespace, Name: configuration.EvictionsConfigMapName}, Data: map[string]string{"evictions": "{"},
	}
	h := replica(fake.NewClientBuilder().WithObjects(podOn("p", "a"), damaged).Build(), time.Now(), 10)
	if response := h.Handle(t.Context(), request(t, agent, "a", "p", nil)); !response.Allowed {
		t.Errorf("refused with %q", response.Result.Message)
	}
}
