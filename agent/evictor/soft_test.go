package evictor

import (
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/eviction"
	"koordinator.sh/koord/decision/nodeqos/softeviction"
)

// request a soft eviction of a pod, in a while.
func (n *node) request(t *testing.T, name string, in time.Duration) {
	t.Helper()
	for i, pod := range n.pods {
		if pod.Object.Name != name {
			continue
		}
		object := pod.Object.DeepCopy()
		if err := extension.SetSoftEvictionSpec(object, &extension.SoftEvictionSpec{
			Timestamp: new(metav1.NewTime(n.Now().Add(in))), Initiator: "koord-descheduler", DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: new(int64(7))},
		}); err != nil {
			t.Fatal(err)
		}
		n.pods[i].Object = object
	}
}

// soft is a node whose agent carries out requests for soft evictions, beside evictions for memory.
func soft(n *node) {
	n.options.Soft = true
	n.add("stays", 5000, gib)
	n.add("goes", 5000, gib)
	n.used = 10 * gib
}

func TestARequestedPodIsEvicted(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		soft(n)
		n.decide()
		n.want(t)
		n.request(t, "goes", 3*time.Second)
		n.decide()
		n.want(t)
		time.Sleep(3 * time.Second)
		n.decide()
		n.want(t, "goes of uid-goes, within 7 s")
		n.decide()
		n.want(t, "goes of uid-goes, within 7 s")
		if counts := n.Counts(); counts[eviction.SoftEvict] != 1 || len(counts) != 1 {
			t.Errorf("counts %v", counts)
		}
		entries := n.options.Audit.After(0, 10)
		if len(entries) != 1 || entries[0].Owner != "SoftEvict" || entries[0].Why != "requested by koord-descheduler" {
			t.Errorf("audit %+v", entries)
		}
		if requests := n.SoftRequests(); len(requests) != 1 || requests[0].State != softeviction.Leaving {
			t.Errorf("requests %+v", requests)
		}
		n.used = 84 * gib // a soft eviction starts no cool-down
		n.pods[0].Object.Labels[extension.LabelPodQoS] = "BE"
		n.decide()
		n.want(t, "goes of uid-goes, within 7 s", "stays of uid-stays")
	})
}

func TestARequestIsNotCarriedOut(t *testing.T) {
	tests := map[string]func(t *testing.T, n *node){
		"while the feature is off": func(t *testing.T, n *node) { n.options.Soft = false; n.request(t, "goes", 0) },
		"after it was cancelled": func(t *testing.T, n *node) {
			n.request(t, "goes", time.Second)
			n.decide()
			delete(n.pods[1].Object.Annotations, extension.AnnotationSoftEviction)
			time.Sleep(2 * time.Second)
		},
		"of another node's time": func(t *testing.T, n *node) { n.request(t, "goes", time.Hour) },
		"after it expired":       func(t *testing.T, n *node) { n.request(t, "goes", -2*time.Hour) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			onNode(t, func(t *testing.T, n *node) {
				soft(n)
				change(t, n)
				n.decide()
				n.want(t)
			})
		})
	}
}

func TestARefusedRequestIsTriedAgain(t *testing.T) {
	onNode(t, func(t *testing.T, n *node) {
		soft(n)
		refusals := 0
		n.refuse = func(string) error {
			if refusals++; refusals > 1 {
				return nil
			}
			return apierrors.NewTooManyRequests("a PodDisruptionBudget", 0)
		}
		n.request(t, "goes", 0)
		n.decide()
		n.decide()
		n.want(t)
		if requests := n.SoftRequests(); requests[0].State != softeviction.Waiting {
			t.Errorf("requests %+v", requests)
		}
		time.Sleep(11 * time.Second)
		n.decide()
		n.want(t, "goes of uid-goes, within 7 s")
	})
}

func TestAnAgentWithSoftEvictionsAloneWorks(t *testing.T) {
	if (&Evictor{options: Options{On: map[eviction.Feature]bool{}}}).Enabled() {
		t.Error("an agent without a feature is enabled")
	}
	if !(&Evictor{options: Options{Soft: true}}).Enabled() {
		t.Error("an agent with soft evictions is not enabled")
	}
}
