package kubectlplugin

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/noderesource/recommend"
	"koordinator.sh/koord/source/live/livetest"
)

// recommended is a Recommendation whose container used so many cores and 1000 MiB for some hours.
func recommended(t *testing.T, name, kind, target string, hours int, cores float64) analysisv1alpha1.Recommendation {
	t.Helper()
	c := recommend.NewContainer()
	for minute := range hours * 60 {
		c.AddUsage(testNow.Add(time.Duration(minute-hours*60)*time.Minute), cores, 1000<<20, time.Minute)
	}
	r := analysisv1alpha1.Recommendation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(testNow.Add(-100 * time.Hour))},
		Spec: analysisv1alpha1.RecommendationSpec{Target: analysisv1alpha1.RecommendationTarget{
			Type: analysisv1alpha1.RecommendationTargetWorkload, Workload: &analysisv1alpha1.CrossVersionObjectReference{Kind: kind, Name: target},
		}},
	}
	if hours == 0 {
		return r
	}
	if target == "web" {
		c.AddOOM(testNow.Add(-3*time.Hour), 1500<<20)
	}
	checkpoint, err := c.Checkpoint("main")
	if err != nil {
		t.Fatal(err)
	}
	advised := c.Recommend(recommend.DefaultOptions(), 1, testNow, nil)
	names := recommend.Names{CPU: corev1.ResourceCPU, Memory: corev1.ResourceMemory}
	r.Status = analysisv1alpha1.RecommendationStatus{
		UpdateTime: &metav1.Time{Time: testNow.Add(-2 * time.Minute)},
		Checkpoint: &analysisv1alpha1.RecommendationCheckpoint{Containers: []analysisv1alpha1.ContainerCheckpoint{checkpoint}},
		PodStatus: &analysisv1alpha1.RecommendedPodStatus{ContainerStatuses: []analysisv1alpha1.RecommendedContainerStatus{{
			ContainerName: "main", Resources: names.List(advised.CPU.Target, advised.Memory.Target),
			LowerBound: names.List(advised.CPU.Lower, advised.Memory.Lower), UpperBound: names.List(advised.CPU.Upper, advised.Memory.Upper),
		}}},
	}
	if hours < 24 {
		r.Status.Conditions = []metav1.Condition{{Type: "LowConfidence", Status: metav1.ConditionTrue, Message: "less than a day was observed: 3.0 hours"}}
	}
	return r
}

func recommendationCluster(t *testing.T) *livetest.Server {
	server := cluster()
	pods := []struct{ name, owner, cpu, memory string }{
		{"web-1", "web", "4", "8Gi"}, {"web-2", "web", "4", "1Gi"}, {"web-3", "web", "1300m", "4Gi"}, {"cart-0", "cart", "2", "2Gi"},
	}
	for _, p := range pods {
		pod := makePod("shop", p.name, "worker-1", list("cpu", p.cpu, "memory", p.memory))
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: "StatefulSet", Name: p.owner, Controller: new(true)}}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "main", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, Resources: &corev1.ResourceRequirements{},
		}}
		server.Pods = append(server.Pods, pod)
	}
	web := recommended(t, "web", "StatefulSet", "web", 72, 1)
	web.Annotations = map[string]string{analysisv1alpha1.AnnotationRecommendationApply: analysisv1alpha1.RecommendationApplyInPlace}
	web.Status.Checkpoint.Applied = []analysisv1alpha1.AppliedResize{{PodUID: "shop/web-1", Time: metav1.NewTime(testNow.Add(-20 * time.Minute))}}
	server.Recommendations = []analysisv1alpha1.Recommendation{web, recommended(t, "cart", "StatefulSet", "cart", 3, 3), recommended(t, "new", "Deployment", "new", 0, 0)}
	return server
}

func TestRecommendationsPrint(t *testing.T) {
	tests := map[string]struct {
		line string
		edit func(*livetest.Server)
	}{
		"top-recommendations":                {line: "top recommendations"},
		"why-recommendation":                 {line: "why recom/web"},
		"top-recommendations-wide":           {line: "top recommendations -o wide"},
		"top-recommendations-all":            {line: "top recom -A --sort-by=cpu-savings"},
		"top-recommendations-none":           {line: "top recommendations -n empty"},
		"top-recommendations-names":          {line: "top recommendations -o name --sort-by=.metadata.name"},
		"top-recommendations-unknown":        {line: "top recommendations wep"},
		"top-recommendations-order":          {line: "top recommendations --sort-by=speed"},
		"explain-recommendation":             {line: "explain recommendation web"},
		"explain-recommendation-ascii":       {line: "explain recommendation web --ascii --color=always"},
		"explain-recommendation-uncertain":   {line: "explain recommendation cart --pods=0"},
		"explain-recommendation-new":         {line: "explain recom new"},
		"explain-recommendation-json":        {line: "explain recommendation cart -o jsonpath={.containers[0].cpu.target}/{.application.state}"},
		"explain-recommendation-unknown":     {line: "explain recommendation wep"},
		"explain-recommendation-no-name":     {line: "explain recommendation"},
		"explain-recommendation-pods":        {line: "explain recommendation web --pods=-1"},
		"explain-recommendation-unseen":      {line: "explain recommendation web --strict", edit: func(s *livetest.Server) { s.Denied = []string{"list pods"} }},
		"top-recommendations-not-permitted":  {line: "top recommendations", edit: func(s *livetest.Server) { s.Denied = []string{"list recommendations"} }},
		"top-recommendations-without-crds":   {line: "top recommendations", edit: func(s *livetest.Server) { s.NoCRDs = true }},
		"explain-recommendation-by-upstream": {line: "explain recommendation web", edit: func(s *livetest.Server) { s.Recommendations[0].Status.Checkpoint = nil }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := recommendationCluster(t)
			if tc.edit != nil {
				tc.edit(server)
			}
			golden(t, name, tc.line, run(t, server, tc.line))
		})
	}
}

func TestRecommendationsFitATerminal(t *testing.T) {
	for name, width := range map[string]int{"top-recommendations-80": 80, "top-recommendations-120": 120} {
		golden(t, name, "top recommendations", run(t, recommendationCluster(t), "top recommendations", func(o *Options) {
			o.Terminal = Terminal{Output: true, Width: width}
		}))
	}
}

func TestNamesOfRecommendationsComplete(t *testing.T) {
	for line, want := range map[string]string{
		"__complete explain recommendation w":   "web\n:4\n",
		"__complete top recommendations cart n": "new\n:4\n",
	} {
		got := run(t, recommendationCluster(t), line).stdout
		if got != want {
			t.Errorf("%s completes to %q, want %q", line, got, want)
		}
	}
}

func TestRecommendationsAreObjects(t *testing.T) {
	for line, want := range map[string]string{
		"top recommendations -o jsonpath={.kind}/{.items[*].kind}": "RecommendationExplanationList/RecommendationExplanation RecommendationExplanation RecommendationExplanation",
		"explain recommendation web -o jsonpath={.kind}":           "RecommendationExplanation",
	} {
		if got := run(t, recommendationCluster(t), line); got.stdout != want || got.code != 0 {
			t.Errorf("%s prints %q, want %q: %s", line, got.stdout, want, got.stderr)
		}
	}
}
