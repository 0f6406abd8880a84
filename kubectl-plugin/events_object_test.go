package kubectlplugin

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/source/live/livetest"
)

// happened is an event about an object, some seconds before now.
func happened(kind, namespace, name, by, reason, message string, ago int) corev1.Event {
	at := metav1.NewTime(testNow.Add(-time.Duration(ago) * time.Second))
	where := namespace
	if where == "" {
		where = metav1.NamespaceDefault
	}
	return corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: where, Name: name + "." + reason},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: namespace, Name: name},
		Reason:         reason, Message: message, Source: corev1.EventSource{Component: by}, FirstTimestamp: at, LastTimestamp: at, Count: 1, Type: corev1.EventTypeNormal,
	}
}

// eventfulCluster has a Deployment whose first pod was preempted and is gone, the pod that preempted it, and a node that was rebooted.
func eventfulCluster() *livetest.Server {
	server := cluster()
	created := metav1.NewTime(testNow.Add(-10 * time.Minute))
	web := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "web", CreationTimestamp: created}}
	web.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	server.Lists = map[string]runtime.Object{"deployments": &appsv1.DeploymentList{Items: []appsv1.Deployment{web}}}
	preempted := happened("Pod", "shop", "web-5d8f-x2zbc", "koord-scheduler", "Preempted", "Preempted by pod shop/huge on node worker-1", 60)
	preempted.Related = &corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "huge", UID: "shop/huge"}
	refused := happened("Pod", "shop", "huge", "koord-scheduler", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", 60)
	refused.InvolvedObject.UID = preempted.Related.UID
	server.Events = []corev1.Event{
		happened("Deployment", "shop", "web", "deployment-controller", "ScalingReplicaSet", "Scaled up replica set web-5d8f to 1", 599),
		happened("ReplicaSet", "shop", "web-5d8f", "replicaset-controller", "SuccessfulCreate", "Created pod: web-5d8f-x2zbc", 599),
		happened("Pod", "shop", "web-5d8f-x2zbc", "koord-scheduler", "Scheduled", "Successfully assigned shop/web-5d8f-x2zbc to worker-1", 598),
		preempted,
		refused,
		happened("Node", "", "worker-1", "kubelet", "Rebooted", "Node worker-1 has been rebooted", 500),
	}
	return server
}

func TestEventsOfObjects(t *testing.T) {
	same := func(*livetest.Server) {}
	tests := map[string]struct {
		line string
		edit func(*livetest.Server)
	}{
		"deployment":         {"events deployment/web -n shop", same},
		"deployment-by-name": {"events web -n shop", same},
		"deployment-yaml":    {"events deploy web -n shop -o yaml", same},
		"deployment-gone": {"events deployment/web -n shop", func(s *livetest.Server) {
			s.Lists["deployments"] = &appsv1.DeploymentList{}
			s.Events = s.Events[1:]
		}},
		"deployment-never-was":  {"events deployment/wep -n shop", same},
		"deployment-no-events":  {"events deployment/web -n shop --strict", func(s *livetest.Server) { s.Denied = []string{"list events"} }},
		"node":                  {"events worker-1", same},
		"pod-gone":              {"events web-5d8f-x2zbc -n shop", same},
		"pod-that-preempted":    {"events huge -n shop", same},
		"pod-own-namespace":     {"events huge -n shop", func(s *livetest.Server) { s.Denied = []string{"list events -A"} }},
		"name-of-two-kinds":     {"events worker-1 -n shop", func(s *livetest.Server) { s.Pods[0].Name = "worker-1" }},
		"nobody":                {"events nobody -n shop", same},
		"nobody-may-see-little": {"events nobody -n shop", func(s *livetest.Server) { s.Denied = []string{"get nodes"} }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			server := eventfulCluster()
			test.edit(server)
			golden(t, "events/"+name, test.line, run(t, server, test.line))
		})
	}
}
