package kubectlplugin

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/extension"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	"koordinator.sh/koord/decision/scheduling/gang"
	"koordinator.sh/koord/source/live/livetest"
)

// makeGroup is a PodGroup of namespace shop.
func makeGroup(name string, least int32) schedulingsigsv1alpha1.PodGroup {
	return schedulingsigsv1alpha1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name},
		Spec:       schedulingsigsv1alpha1.PodGroupSpec{MinMember: least},
		Status:     schedulingsigsv1alpha1.PodGroupStatus{ScheduleStartTime: metav1.NewTime(testNow.Add(-4 * time.Minute))},
	}
}

// gangPod is a member of a gang that the scheduler refuses with a message.
func gangPod(name, group, node, refusal string) corev1.Pod {
	pod := makePod("shop", name, node, list("cpu", "4"))
	pod.Labels = map[string]string{extension.LabelPodGroup: group}
	if refusal != "" {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Message: refusal}}
	}
	return pod
}

// gangCluster has gangs that are blocked, run, are short of members and only described by a pod.
func gangCluster() *livetest.Server {
	server := quotaCluster()
	const noCPU = "0/3 nodes are available: 3 Insufficient cpu."
	waits := gangPod("train-2", "train", "", noCPU)
	follows := "0/3 nodes are available: " + gang.Rejected([]gang.Key{{Namespace: "shop", Name: "train"}}, &waits, "Insufficient cpu", 1)
	annotated := gangPod("lone-0", "", "", "")
	annotated.Labels = nil
	annotated.Annotations = map[string]string{extension.AnnotationGangName: "alone", extension.AnnotationGangMinAvailable: "2"}
	server.Pods = append(server.Pods, gangPod("train-0", "train", "", follows), gangPod("train-1", "train", "", noCPU), waits,
		gangPod("serve-0", "serve", "worker-1", ""), gangPod("serve-1", "serve", "worker-2", ""), gangPod("few-0", "few", "", ""), annotated)
	groups := []schedulingsigsv1alpha1.PodGroup{makeGroup("train", 3), makeGroup("serve", 2), makeGroup("few", 4), makeGroup("empty", 2)}
	server.Lists["podgroups"] = &schedulingsigsv1alpha1.PodGroupList{Items: groups}
	return server
}

func TestGangsPrint(t *testing.T) {
	tests := map[string]struct {
		line string
		edit func(*livetest.Server)
	}{
		"explain-gang":               {line: "explain gang train"},
		"explain-gang-wide":          {line: "why gang/train -o wide"},
		"explain-gang-ascii":         {line: "explain gang train --ascii"},
		"explain-gang-runs":          {line: "explain pg serve --members 1"},
		"explain-gang-short":         {line: "explain podgroup shop/few"},
		"explain-gang-empty":         {line: "explain gang empty"},
		"explain-gang-annotated":     {line: "explain gang alone"},
		"explain-gang-name":          {line: "explain gang train -o name"},
		"explain-gang-yaml":          {line: "explain gang serve -o yaml"},
		"explain-gang-jsonpath":      {line: "explain gang train -o jsonpath={.counts.needed}/{.counts.created}/{.counts.waiting}/{.counts.bound}"},
		"explain-gang-unknown":       {line: "explain gang trains"},
		"explain-gang-bad-count":     {line: "explain gang train --members 2000"},
		"explain-gang-without-rules": {line: "explain gang train --strict", edit: func(s *livetest.Server) { s.Denied = []string{"list podgroups"} }},
		"explain-gang-not-permitted": {line: "explain gang train", edit: func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"explain-gang-without-crds":  {line: "explain gang alone", edit: func(s *livetest.Server) { s.NoCRDs = true }},
		"why-gang":                   {line: "why gang/train"},
		"why-gang-runs":              {line: "why serve"},
		"why-name":                   {line: "why train"},
		"why-name-unknown":           {line: "why trains"},
		"why-name-twice": {line: "why train", edit: func(s *livetest.Server) {
			s.Pods = append(s.Pods, gangPod("train", "", "worker-1", ""))
		}},
		"why-name-not-permitted": {line: "why trains", edit: func(s *livetest.Server) { s.Denied = []string{"list pods", "list elasticquotas"} }},
		"why-gang-hostile": {line: "why gang/train", edit: func(s *livetest.Server) {
			for i := range s.Pods {
				for c := range s.Pods[i].Status.Conditions {
					s.Pods[i].Status.Conditions[c].Message = "\x1b[31mred\x1b[0m\nerror: forged"
				}
			}
		}},
		"explain-gang-hostile": {line: "explain gang train", edit: func(s *livetest.Server) {
			for i := range s.Pods {
				for c := range s.Pods[i].Status.Conditions {
					s.Pods[i].Status.Conditions[c].Message = "\x1b[31mred\x1b[0m\nerror: forged"
				}
			}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := gangCluster()
			if tc.edit != nil {
				tc.edit(server)
			}
			golden(t, name, tc.line, run(t, server, tc.line))
		})
	}
}
