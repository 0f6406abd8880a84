package sloconfig

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"koordinator.sh/koord/decision/core/configmerge"
)

const (
	good   = `{"enable": true, "cpuReclaimThresholdPercent": 70}`
	better = `{"enable": true, "cpuReclaimThresholdPercent": 80}`
	broken = `{"enable": true, "cpuReclaimThresholdPercent": -1}`
	burst  = `{"clusterStrategy": {"policy": "auto"}}`
)

// process is a reconciler over a fake API server that counts writes, as one process of the manager.
type process struct {
	*reconciler
	client client.Client
	writes *int
	events *events.FakeRecorder
}

func newClient(t *testing.T, writes *int) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			*writes++
			return c.Create(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			*writes++
			return c.Patch(ctx, object, patch, options...)
		},
	}).Build()
}

// start is a manager that starts over what the API server has.
func start(c client.Client, writes *int, leader bool) *process {
	elected := make(chan struct{})
	if leader {
		close(elected)
	}
	recorder := events.NewFakeRecorder(100)
	options := Options{Store: NewStore()}
	return &process{reconciler: newReconciler(c, recorder, options, elected), client: c, writes: writes, events: recorder}
}

func (m *process) run(t *testing.T) {
	t.Helper()
	if _, err := m.Reconcile(t.Context(), reconcile.Request{}); err != nil {
		t.Fatal(err)
	}
}

// put writes the ConfigMap as a user would.
func put(t *testing.T, c client.Client, writes *int, data map[string]string) {
	t.Helper()
	name := Options{}.Name()
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}, Data: data}
	err := c.Create(t.Context(), object)
	if err != nil {
		current := &corev1.ConfigMap{}
		if err := c.Get(t.Context(), name, current); err != nil {
			t.Fatal(err)
		}
		current.Data = data
		err = c.Update(t.Context(), current)
	}
	if err != nil {
		t.Fatal(err)
	}
	*writes = 0
}

func (m *process) inForce(t *testing.T) map[string]string {
	t.Helper()
	config, loaded := m.options.Store.Config()
	if !loaded {
		t.Fatal("the store was not loaded")
	}
	return config.Data()
}

func (m *process) kept(t *testing.T) *corev1.ConfigMap {
	t.Helper()
	kept := &corev1.ConfigMap{}
	if err := m.client.Get(t.Context(), m.options.lastGood(), kept); err != nil {
		t.Fatal(err)
	}
	return kept
}

func (m *process) recordedEvents() []string {
	var out []string
	for {
		select {
		case event := <-m.events.Events:
			out = append(out, event)
		default:
			return out
		}
	}
}

func TestABadEditKeepsTheLastGoodAlsoOverARestart(t *testing.T) {
	writes := new(int)
	c := newClient(t, writes)
	put(t, c, writes, map[string]string{"colocation-config": good, "cpu-burst-config": burst})
	first := start(c, writes, true)
	first.run(t)
	want := map[string]string{"colocation-config": good, "cpu-burst-config": burst}
	if diff := cmp.Diff(want, first.inForce(t)) + cmp.Diff(want, first.kept(t).Data); diff != "" {
		t.Errorf("in force and kept (-want +got):\n%s", diff)
	}
	if events := first.recordedEvents(); len(events) > 0 {
		t.Errorf("events about a good configuration: %q", events)
	}

	put(t, c, writes, map[string]string{"colocation-config": broken, "cpu-burst-config": `{`})
	for _, m := range []*process{first, start(c, writes, true)} {
		m.run(t)
		if diff := cmp.Diff(want, m.inForce(t)); diff != "" {
			t.Errorf("in force after a bad edit (-want +got):\n%s", diff)
		}
		events := strings.Join(m.recordedEvents(), "\n")
		for _, part := range []string{"Warning ConfigOutOfRange [KOORD0203] colocation-config: cpuReclaimThresholdPercent (line 1, column 48): must be at least 0 and at most 200, is -1",
			"Warning ConfigMalformed [KOORD0201] cpu-burst-config (line 1, column 1): is not valid JSON"} {
			if !strings.Contains(events, part) {
				t.Errorf("events %q, want one that says %q", events, part)
			}
		}
	}
	if problems := first.kept(t).Annotations[AnnotationProblems]; strings.Count(problems, "\n") != 1 {
		t.Errorf("problems told by the last-good ConfigMap: %q, want two lines", problems)
	}

	put(t, c, writes, map[string]string{"colocation-config": better, "cpu-burst-config": burst})
	first.run(t)
	want["colocation-config"] = better
	if diff := cmp.Diff(want, first.kept(t).Data); diff != "" {
		t.Errorf("kept after the repair (-want +got):\n%s", diff)
	}
	if _, still := first.kept(t).Annotations[AnnotationProblems]; still {
		t.Error("the last-good ConfigMap still tells of problems after the repair")
	}
	if events := first.recordedEvents(); len(events) != 1 || !strings.Contains(events[0], "Normal ConfigAccepted") {
		t.Errorf("events after the repair: %q", events)
	}
}

func TestNothingIsWrittenOrToldTwice(t *testing.T) {
	writes := new(int)
	c := newClient(t, writes)
	put(t, c, writes, map[string]string{"colocation-config": broken})
	m := start(c, writes, true)
	m.run(t)
	if *writes != 1 || len(m.recordedEvents()) != 1 {
		t.Errorf("%d writes at first, want 1, and one event", *writes)
	}
	for range 3 {
		m.run(t)
	}
	if events := m.recordedEvents(); *writes != 1 || len(events) > 0 {
		t.Errorf("%d writes and events %q, want nothing more", *writes, events)
	}
}

func TestADeletedConfigMapWithdrawsNothing(t *testing.T) {
	writes := new(int)
	c := newClient(t, writes)
	put(t, c, writes, map[string]string{"colocation-config": good})
	m := start(c, writes, true)
	m.run(t)
	name := Options{}.Name()
	if err := c.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name}}); err != nil {
		t.Fatal(err)
	}
	m.run(t)
	want := map[string]string{"colocation-config": good}
	if diff := cmp.Diff(want, m.inForce(t)); diff != "" {
		t.Errorf("in force (-want +got):\n%s", diff)
	}
	if events := m.recordedEvents(); len(events) != 1 || !strings.Contains(events[0], "ConfigMissing [KOORD0204]") || !strings.Contains(events[0], "the last valid configuration stays in force") {
		t.Errorf("events %q, want one with KOORD0204 that says what is in force", events)
	}
	if diff := cmp.Diff(want, m.kept(t).Data); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	again := start(c, writes, true)
	again.run(t)
	if diff := cmp.Diff(want, again.inForce(t)); diff != "" {
		t.Errorf("in force after a restart (-want +got):\n%s", diff)
	}

	put(t, c, writes, map[string]string{"colocation-config": better})
	m.run(t)
	if diff := cmp.Diff(map[string]string{"colocation-config": better}, m.inForce(t)); diff != "" {
		t.Errorf("in force after the ConfigMap was made again (-want +got):\n%s", diff)
	}
}

func TestWithoutAnyConfigMapDefaultsAreInForce(t *testing.T) {
	writes := new(int)
	m := start(newClient(t, writes), writes, true)
	m.run(t)
	if diff := cmp.Diff(map[string]string{}, m.inForce(t), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("in force (-want +got):\n%s", diff)
	}
	if events := m.recordedEvents(); len(events) != 1 || !strings.Contains(events[0], "built-in defaults are in force") {
		t.Errorf("events %q, want one that says that defaults are in force", events)
	}
}

func TestAReplicaThatDoesNotLeadOnlyReads(t *testing.T) {
	writes := new(int)
	c := newClient(t, writes)
	put(t, c, writes, map[string]string{"colocation-config": good, "cpu-burst-config": `nonsense`})
	m := start(c, writes, false)
	m.run(t)
	if events := m.recordedEvents(); *writes > 0 || len(events) > 0 {
		t.Errorf("%d writes, events %q; want none", *writes, events)
	}
	if diff := cmp.Diff(map[string]string{"colocation-config": good}, m.inForce(t)); diff != "" {
		t.Errorf("in force (-want +got):\n%s", diff)
	}
}

func TestSubscribersAreWokenOncePerChangeOfTheirKeys(t *testing.T) {
	s := NewStore()
	s.Changes(EveryNode(nil), []string{"colocation-config", "cpu-burst-config"})
	woken := func() bool {
		select {
		case <-s.subscribers[0].events:
			return true
		default:
			return false
		}
	}
	set := func(data map[string]string) {
		config, _ := configmerge.Parse(data)
		s.Set(config)
	}
	set(map[string]string{"colocation-config": good})
	if !woken() {
		t.Error("loading did not wake")
	}
	set(map[string]string{"colocation-config": good})
	if woken() {
		t.Error("the same configuration woke again")
	}
	set(map[string]string{"colocation-config": good, "resource-threshold-config": `{"clusterStrategy": {"enable": true}}`})
	if woken() {
		t.Error("a key of others woke")
	}
	set(map[string]string{"colocation-config": better})
	set(map[string]string{"colocation-config": good})
	if !woken() || woken() {
		t.Error("two changes in a row must wake, and wake once")
	}
	set(map[string]string{"colocation-config": good, "cpu-burst-config": "nonsense"})
	if !woken() {
		t.Error("a problem of a key did not wake, and has to be told of")
	}
	s.Set(configmerge.Config{})
	if !woken() {
		t.Error("a configuration that is gone did not wake")
	}
}

func TestNotesOfEventsAreCutBetweenLetters(t *testing.T) {
	short := strings.Repeat("é", 500)
	if got := bounded(short); got != short {
		t.Errorf("a note of %d bytes was cut to %d", len(short), len(got))
	}
	if got := bounded("x" + short); !utf8.ValidString(got) || len(got) > 1003 {
		t.Errorf("note of %d bytes, valid UTF-8: %t", len(got), utf8.ValidString(got))
	}
}

func TestAKeyOfALaterVersionStaysInWhatIsKept(t *testing.T) {
	writes := 0
	c := newClient(t, &writes)
	put(t, c, &writes, map[string]string{"colocation-config": good, "later-config": "later"})
	m := start(c, &writes, true)
	m.run(t)
	kept := m.kept(t)
	kept.Data["later-config"] = "later"
	if err := c.Update(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	m.run(t)
	put(t, c, &writes, map[string]string{"colocation-config": better, "later-config": broken})
	m.run(t)
	if diff := cmp.Diff(map[string]string{"colocation-config": better, "later-config": "later"}, m.kept(t).Data); diff != "" {
		t.Errorf("what is kept (-want +got):\n%s", diff)
	}
}
