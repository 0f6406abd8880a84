package printer

import (
	"io"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// recommendationBuilder makes the explanation of a Recommendation for tests, step by step.
type recommendationBuilder struct {
	diagnosticsv1alpha1.RecommendationExplanation
}

func makeRecommendation(name string) *recommendationBuilder {
	b := &recommendationBuilder{}
	b.Namespace, b.Name, b.Target = "shop", name, "Deployment/"+name
	b.UpdatedAt = before(2 * time.Minute)
	b.Application.State, b.Application.Message = diagnosticsv1alpha1.ApplicationOff, "no annotation asks for it"
	return b
}

func (b *recommendationBuilder) pods(n int32) *recommendationBuilder {
	b.Pods = &n
	return b
}

// container adds a container of millicores and Gi: requested, lower bound, target and upper bound of each.
func (b *recommendationBuilder) container(name, tier string, cpu, memory [4]int64) *recommendationBuilder {
	c := diagnosticsv1alpha1.ContainerRecommendation{
		Name: name, Tier: tier, CPU: recommendedResource(cpu, 1), Memory: recommendedResource(memory, gi),
		ConfidenceSeconds: new(int64(3 * 24 * 60 * 60)), FirstSampleAt: before(72 * time.Hour), LastSampleAt: before(time.Minute),
	}
	b.Containers = append(b.Containers, c)
	return b
}

func recommendedResource(amounts [4]int64, unit int64) diagnosticsv1alpha1.ResourceRecommendation {
	return diagnosticsv1alpha1.ResourceRecommendation{
		Requested: new(amounts[0] * unit), RequestedLeast: new(amounts[0] * unit), Lower: new(amounts[1] * unit), Target: new(amounts[2] * unit), Upper: new(amounts[3] * unit),
		Savings: new((amounts[0] - amounts[2]) * unit),
	}
}

// observed changes how long the last container was observed, and whether it ran out of memory.
func (b *recommendationBuilder) observed(confidence time.Duration, oom *metav1.Time) *recommendationBuilder {
	c := &b.Containers[len(b.Containers)-1]
	c.ConfidenceSeconds, c.LastOOMAt = new(int64(confidence/time.Second)), oom
	return b
}

// derived says how the CPU target of the last container came about.
func (b *recommendationBuilder) derived(terms ...diagnosticsv1alpha1.Term) *recommendationBuilder {
	b.Containers[len(b.Containers)-1].CPU.Terms = terms
	return b
}

func (b *recommendationBuilder) applied(state diagnosticsv1alpha1.ApplicationState, message string, pods ...diagnosticsv1alpha1.PodResize) *recommendationBuilder {
	b.Application = diagnosticsv1alpha1.RecommendationApplication{
		State: state, Message: message, Budget: 2, BudgetUsed: 1, BudgetSeconds: 600, CoolDownSeconds: 3600, LastAppliedAt: before(20 * time.Minute), Pods: pods,
	}
	return b
}

func (b *recommendationBuilder) obj() *diagnosticsv1alpha1.RecommendationExplanation {
	return &b.RecommendationExplanation
}

func resized(name, reason string, requests corev1.ResourceList) diagnosticsv1alpha1.PodResize {
	pod := diagnosticsv1alpha1.PodResize{Name: name, Reason: reason}
	if len(requests) > 0 {
		pod.Containers = []diagnosticsv1alpha1.ContainerResize{{Name: "main", Requests: requests, Limits: requests}}
	}
	return pod
}

func resources(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

func dueRecommendation() *diagnosticsv1alpha1.RecommendationExplanation {
	resting := resized("web-2", "it was resized", nil)
	resting.Until = &metav1.Time{Time: fixtureNow.Add(40 * time.Minute)}
	return makeRecommendation("web").pods(3).
		container("main", "plain", [4]int64{4000, 900, 1200, 2000}, [4]int64{8, 2, 3, 4}).observed(72*time.Hour, before(3*time.Hour)).
		derived(
			diagnosticsv1alpha1.Term{Value: 1000, Unit: diagnosticsv1alpha1.MilliCPU, Note: "95th percentile of usage"},
			diagnosticsv1alpha1.Term{Operator: diagnosticsv1alpha1.Times, Value: 115, Unit: diagnosticsv1alpha1.Percent},
			diagnosticsv1alpha1.Term{Operator: diagnosticsv1alpha1.Max, Value: 25, Unit: diagnosticsv1alpha1.MilliCPU, Note: "the least of a container"},
		).
		applied(diagnosticsv1alpha1.ApplicationDue, "1 of 3 pods is resized next",
			resized("web-1", "", resources("1200m", "3Gi")), resting, resized("web-3", "the node worker-1 has no room", resources("1200m", "3Gi"))).obj()
}

func newRecommendation() *diagnosticsv1alpha1.RecommendationExplanation {
	b := makeRecommendation("new")
	b.UpdatedAt = nil
	b.Notes = []string{"no pod of the target was seen"}
	return b.obj()
}

func batchRecommendation() *diagnosticsv1alpha1.RecommendationExplanation {
	b := makeRecommendation("etl").pods(1).container("main", "batch", [4]int64{500, 900, 1200, 2000}, [4]int64{1, 2, 3, 4}).observed(3*time.Hour, nil)
	b.Containers[0].CPU.RequestedLeast = new(int64(200))
	return b.applied(diagnosticsv1alpha1.ApplicationBlocked, "observed for less than a day").obj()
}

func settledRecommendation() *diagnosticsv1alpha1.RecommendationExplanation {
	b := makeRecommendation("cart").pods(2).container("main", "plain", [4]int64{1200, 900, 1200, 2000}, [4]int64{3, 2, 3, 4}).
		container("sidecar", "plain", [4]int64{100, 10, 20, 50}, [4]int64{1, 0, 1, 2})
	b.Containers[1].CPU = diagnosticsv1alpha1.ResourceRecommendation{Target: new(int64(20))}
	b.Containers[1].ConfidenceSeconds = nil
	return b.applied(diagnosticsv1alpha1.ApplicationSettled, "all pods request what is recommended").obj()
}

func recommendationsFixture() *diagnosticsv1alpha1.RecommendationExplanationList {
	return &diagnosticsv1alpha1.RecommendationExplanationList{Items: []diagnosticsv1alpha1.RecommendationExplanation{
		*batchRecommendation(), *dueRecommendation(), *newRecommendation(), *settledRecommendation(),
	}}
}

// recommendationViews are what is printed of Recommendations.
func recommendationViews() map[string]view {
	one := func(r *diagnosticsv1alpha1.RecommendationExplanation, parts int, wide bool) view {
		return func(w io.Writer, o Options) error {
			o.Parts, o.Wide = parts, wide
			return Recommendation(w, r, o)
		}
	}
	return map[string]view{
		"top-recommendations": func(w io.Writer, o Options) error { return Recommendations(w, recommendationsFixture(), o) },
		"top-recommendations-all-wide": func(w io.Writer, o Options) error {
			o.Wide, o.WithNamespace = true, true
			return Recommendations(w, recommendationsFixture(), o)
		},
		"explain-recommendation":          one(dueRecommendation(), 2, false),
		"explain-recommendation-wide":     one(dueRecommendation(), 2, true),
		"explain-recommendation-new":      one(newRecommendation(), 10, false),
		"explain-recommendation-batch":    one(batchRecommendation(), 10, false),
		"explain-recommendation-settled":  one(settledRecommendation(), 0, false),
		"explain-recommendation-no-parts": one(dueRecommendation(), 0, false),
	}
}

func TestRequestsAreMarkedOutsideOfTheBounds(t *testing.T) {
	amount := func(n int64) *int64 { return &n }
	tests := map[string]struct {
		resource diagnosticsv1alpha1.ResourceRecommendation
		want     string
		wantRole Role
	}{
		"unseen":                {diagnosticsv1alpha1.ResourceRecommendation{}, "-", Dim},
		"the least is unseen":   {diagnosticsv1alpha1.ResourceRecommendation{Requested: amount(1000)}, "-", Dim},
		"without bounds":        {diagnosticsv1alpha1.ResourceRecommendation{Requested: amount(1000), RequestedLeast: amount(1000)}, "1", Plain},
		"within them":           {recommendedResource([4]int64{1000, 500, 800, 2000}, 1), "1", Plain},
		"on a bound":            {recommendedResource([4]int64{500, 500, 800, 2000}, 1), "0.5", Plain},
		"below":                 {recommendedResource([4]int64{400, 500, 800, 2000}, 1), "0.4", Warn},
		"above":                 {recommendedResource([4]int64{3000, 500, 800, 2000}, 1), "3", Warn},
		"of pods that differ":   {diagnosticsv1alpha1.ResourceRecommendation{Requested: amount(2000), RequestedLeast: amount(1000)}, "1-2", Plain},
		"one of them below":     {diagnosticsv1alpha1.ResourceRecommendation{Requested: amount(2000), RequestedLeast: amount(1000), Lower: amount(1500), Upper: amount(3000)}, "1-2", Warn},
		"nothing was requested": {recommendedResource([4]int64{0, 0, 800, 2000}, 1), "0", Plain},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := requestCell(&tc.resource, diagnosticsv1alpha1.MilliCPU)
			if got.text != tc.want || got.role != tc.wantRole {
				t.Errorf("got %+v, want %q in role %d", got, tc.want, tc.wantRole)
			}
		})
	}
}

func TestSavingsThatAreNegativeStandOut(t *testing.T) {
	tests := map[string]struct {
		savings  *int64
		want     string
		wantRole Role
	}{
		"unknown":  {nil, "-", Dim},
		"saved":    {new(int64(1500)), "1.5", Plain},
		"nothing":  {new(int64(0)), "0", Plain},
		"required": {new(int64(-700)), "-0.7", Warn},
	}
	for name, tc := range tests {
		if got := savingsCell(tc.savings, diagnosticsv1alpha1.MilliCPU); got.text != tc.want || got.role != tc.wantRole {
			t.Errorf("%s: got %+v, want %q in role %d", name, got, tc.want, tc.wantRole)
		}
	}
}

func TestObservationOfLessThanADayStandsOut(t *testing.T) {
	tests := map[string]struct {
		seconds, runs *int64
		want          string
		wantRole      Role
	}{
		"unknown":            {nil, nil, "<unknown>", Dim},
		"an hour":            {new(int64(3600)), nil, "60m", Warn},
		"almost a day":       {new(int64(24*3600 - 1)), nil, "23h", Warn},
		"exactly a day":      {new(int64(24 * 3600)), nil, "24h", Plain},
		"more than that":     {new(int64(8 * 24 * 3600)), nil, "8d", Plain},
		"a job that ran":     {new(int64(3600)), new(int64(1)), "1 run", Warn},
		"ten runs of a job":  {new(int64(3600)), new(int64(10)), "10 runs", Plain},
		"runs without usage": {nil, new(int64(9)), "9 runs", Warn},
	}
	for name, tc := range tests {
		if got := observedCell(tc.seconds, tc.runs); got.text != tc.want || got.role != tc.wantRole {
			t.Errorf("%s: got %+v, want %q in role %d", name, got, tc.want, tc.wantRole)
		}
	}
}

func TestApplicationIsAWordWithAMark(t *testing.T) {
	for state, want := range map[diagnosticsv1alpha1.ApplicationState]string{
		diagnosticsv1alpha1.ApplicationOff:     "off",
		diagnosticsv1alpha1.ApplicationSettled: "+ settled",
		diagnosticsv1alpha1.ApplicationDue:     "! due",
		diagnosticsv1alpha1.ApplicationBlocked: "! blocked",
		diagnosticsv1alpha1.ApplicationUnknown: "<unknown>",
		"Later":                                "<unknown>",
	} {
		a := diagnosticsv1alpha1.RecommendationApplication{State: state}
		if got := applyCell(&a, Options{Style: Style{ASCII: true}}).text; got != want {
			t.Errorf("%q is %q, want %q", state, got, want)
		}
	}
}

func TestChangesNameRequestsAndLimits(t *testing.T) {
	cpu := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1200m")}
	tests := map[string]struct {
		containers []diagnosticsv1alpha1.ContainerResize
		want       string
	}{
		"nothing":        {nil, "-"},
		"requests":       {[]diagnosticsv1alpha1.ContainerResize{{Name: "main", Requests: cpu}}, "main requests cpu 1.2"},
		"limits":         {[]diagnosticsv1alpha1.ContainerResize{{Name: "main", Limits: resources("2", "1536Mi")}}, "main limits cpu 2 memory 1.5Gi"},
		"both, in order": {[]diagnosticsv1alpha1.ContainerResize{{Name: "main", Requests: resources("1", "1Gi"), Limits: cpu}}, "main requests cpu 1 memory 1Gi limits cpu 1.2"},
		"two containers": {[]diagnosticsv1alpha1.ContainerResize{{Name: "main", Requests: cpu}, {Name: "proxy", Requests: cpu}}, "main requests cpu 1.2, proxy requests cpu 1.2"},
	}
	for name, tc := range tests {
		if got := changes(tc.containers); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestAPodThatRestsSaysForHowLong(t *testing.T) {
	o := Options{Now: fixtureNow}
	for name, tc := range map[string]struct {
		until *metav1.Time
		want  string
	}{
		"for ever":        {nil, "the budget is used up"},
		"a while":         {&metav1.Time{Time: fixtureNow.Add(5 * time.Minute)}, "the budget is used up, for another 5m"},
		"until now":       {&metav1.Time{Time: fixtureNow}, "the budget is used up, for another 0s"},
		"until yesterday": {before(24 * time.Hour), "the budget is used up, for another 0s"},
	} {
		if got := whyNot(&diagnosticsv1alpha1.PodResize{Reason: "the budget is used up", Until: tc.until}, o); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestPodsThatAreNotListedAreCounted(t *testing.T) {
	for parts, want := range map[int]string{0: "", 1: "and 2 more pods; -o wide lists all", 2: "and 1 more pod; -o wide lists all", 3: "", 10: ""} {
		var out strings.Builder
		if err := Recommendation(&out, dueRecommendation(), Options{Now: fixtureNow, Parts: parts}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(out.String(), "-o wide lists all"); got != (want != "") || !strings.Contains(out.String(), want) {
			t.Errorf("%d pods: want %q in\n%s", parts, want, out.String())
		}
	}
}
