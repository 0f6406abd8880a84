package spark

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
	"koordinator.sh/koord/sandbox/realnode"
)

func TestTheOfferMustSuffice(t *testing.T) {
	for offer, want := range map[int64]bool{0: false, needed - 1: false, needed: true, 2000: true} {
		if err := (&story{Service: service.Service{Offer: offer}}).offers(t.Context(), nil); (err == nil) != want {
			t.Errorf("an offer of %d: %v; want that it suffices: %t", offer, err, want)
		}
	}
}

func TestTheOfferMustShrink(t *testing.T) {
	tests := map[string]struct {
		story story
		want  bool
	}{
		"by too little":         {story{offerBefore: 500, Service: service.Service{Offer: 401}}, false},
		"by enough":             {story{offerBefore: 500, Service: service.Service{Offer: 400}}, true},
		"to nothing":            {story{offerBefore: 50, Service: service.Service{Offer: 0}}, true},
		"not at all":            {story{offerBefore: 50, Service: service.Service{Offer: 50}}, false},
		"on a machine all busy": {story{offerBefore: 500, Service: service.Service{Offer: 500, Full: true}}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tc.story.gaveWay(t.Context(), nil); (err == nil) != tc.want {
				t.Errorf("gaveWay = %v; want that it gave way: %t", err, tc.want)
			}
		})
	}
}

func TestPodsOfSparkMustBeBatchPods(t *testing.T) {
	batch := func(change func(*corev1.Pod)) *corev1.Pod {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "exec-1", Labels: map[string]string{extension.LabelPodQoS: string(extension.QoSBE)}},
			Spec: corev1.PodSpec{NodeName: "node-1", SchedulerName: "koord-scheduler", Containers: []corev1.Container{{
				Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{extension.BatchCPU: resource.MustParse("50")}},
			}}},
		}
		change(pod)
		return pod
	}
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"a batch pod":          {func(*corev1.Pod) {}, true},
		"on another node":      {func(p *corev1.Pod) { p.Spec.NodeName = "node-2" }, false},
		"by another scheduler": {func(p *corev1.Pod) { p.Spec.SchedulerName = "default-scheduler" }, false},
		"of no class":          {func(p *corev1.Pod) { p.Labels = nil }, false},
		"that requests cpu": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1")
		}, false},
		"that requests nothing": {func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests = nil }, false},
	}
	session := &tutorial.Session{Node: realnode.Node{Name: "node-1"}}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &story{driver: batch(func(*corev1.Pod) {}), executors: []*corev1.Pod{batch(tc.change)}}
			if err := s.isBatch(t.Context(), session); (err == nil) != tc.want {
				t.Errorf("isBatch = %v; want a batch pod: %t", err, tc.want)
			}
		})
	}
}

// TestSparkIsToldWhereEverythingIs: the driver reaches the API server by loopback, and pulls nothing.
func TestSparkIsToldWhereEverythingIs(t *testing.T) {
	line := strings.Join((&story{}).arguments(&tutorial.Session{Server: "https://127.0.0.1:6443"}, "/work/driver.yaml"), " ")
	for _, want := range []string{
		"--master k8s://https://127.0.0.1:6443 --deploy-mode cluster", "spark.kubernetes.driver.master=https://127.0.0.1:6443",
		"podTemplateFile=driver.yaml", "image.pullPolicy=Never", "spark.executor.instances=2",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("the arguments lack %q: %s", want, line)
		}
	}
}
