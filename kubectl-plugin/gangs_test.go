package kubectlplugin

import (
	"fmt"
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

// treesOfGangs are command lines that draw gangs. In most of them, train and serve start together with a gang that does not exist.
func treesOfGangs() map[string]gangLine {
	together := func(s *livetest.Server) {
		for i := range groupsOf(s)[:2] {
			groupsOf(s)[i].Annotations = map[string]string{
				extension.AnnotationGangGroups:              `["shop/serve","shop/train","spark/driver"]`,
				extension.AnnotationGangNetworkTopologySpec: `{"gatherStrategy":[{"layer":"spineLayer","strategy":"PreferGather"},{"layer":"blockLayer","strategy":"MustGather"}]}`,
			}
		}
	}
	and := func(edits ...func(*livetest.Server)) func(*livetest.Server) {
		return func(s *livetest.Server) {
			for _, edit := range edits {
				edit(s)
			}
		}
	}
	denied := func(what string) func(*livetest.Server) {
		return func(s *livetest.Server) { s.Denied = []string{what} }
	}
	return map[string]gangLine{
		"tree-gang":                {line: "tree gang", edit: together},
		"tree-gang-ascii":          {line: "tree pg --ascii", edit: together},
		"tree-gang-wide":           {line: "tree gang -o wide", edit: together},
		"tree-gang-one":            {line: "tree gang train", edit: together},
		"tree-gang-alone":          {line: "tree gang/few"},
		"tree-gang-all":            {line: "tree gang -A -o name"},
		"tree-gang-yaml":           {line: "tree gang serve -o yaml", edit: together},
		"tree-gang-unknown":        {line: "tree gang trains"},
		"tree-gang-none":           {line: "tree gang -n spark"},
		"tree-gang-bad-arguments":  {line: "tree gang train -A"},
		"tree-gang-without-rules":  {line: "tree gang train", edit: and(together, denied("list podgroups"))},
		"tree-gang-of-a-namespace": {line: "tree gang train", edit: and(together, denied("list pods -A"))},
		"tree-gang-not-permitted":  {line: "tree gang", edit: denied("list pods")},
		"tree-gang-without-crds":   {line: "tree gang", edit: func(s *livetest.Server) { s.NoCRDs = true }},
		"tree-gang-hostile": {line: "tree gang", edit: func(s *livetest.Server) {
			groupsOf(s)[0].Annotations = map[string]string{extension.AnnotationGangNetworkTopologySpec: `{"gatherStrategy":[{"layer":"\u001b[31mred\nerror: forged","strategy":"\u001b]0;owned\u0007"}]}`}
			for i := range s.Pods {
				for c := range s.Pods[i].Status.Conditions {
					s.Pods[i].Status.Conditions[c].Message = "\x1b[31mred\x1b[0m\nerror: forged"
				}
			}
		}},
	}
}

func groupsOf(server *livetest.Server) []schedulingsigsv1alpha1.PodGroup {
	return server.Lists["podgroups"].(*schedulingsigsv1alpha1.PodGroupList).Items
}

// gangLine is a command line about gangs, and what is different in the cluster.
type gangLine struct {
	line string
	edit func(*livetest.Server)
}

func TestGangsPrint(t *testing.T) {
	tests := map[string]gangLine{
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
		"why-name-not-permitted": {line: "why trains", edit: func(s *livetest.Server) { s.Denied = []string{"get pods", "get elasticquotas"} }},
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
	for name, tc := range treesOfGangs() {
		tests[name] = tc
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

func TestTreesOfGangsFitTheTerminal(t *testing.T) {
	edit := treesOfGangs()["tree-gang"].edit
	for _, width := range []int{80, 160} {
		server := gangCluster()
		edit(server)
		golden(t, fmt.Sprintf("tree-gang-%d", width), "tree gang", run(t, server, "tree gang", func(o *Options) { o.Terminal = Terminal{Output: true, Width: width} }))
	}
}
