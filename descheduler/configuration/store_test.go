package configuration_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"

	"koordinator.sh/koord/descheduler/configuration"
)

// A scene is a store of a file.
type scene struct {
	*configuration.Store
	path     string
	applied  []bool
	apply    error
	events   *events.FakeRecorder
	registry *prometheus.Registry
}

func newScene(t *testing.T, text string) *scene {
	t.Helper()
	s := &scene{path: filepath.Join(t.TempDir(), "config.yaml"), events: events.NewFakeRecorder(10), registry: prometheus.NewRegistry()}
	s.write(t, text)
	store, err := configuration.Load(t.Context(), configuration.Options{
		Path: s.path, Registry: registry(), Recorder: s.events, Object: &corev1.Pod{}, Registerer: s.registry,
		Apply: func(_ context.Context, next *configuration.Configuration) error {
			s.applied = append(s.applied, next.DryRun)
			return s.apply
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Store = store
	return s
}

func (s *scene) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(s.path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// recorded are the events so far.
func (s *scene) recorded() []string {
	var out []string
	for len(s.events.Events) > 0 {
		out = append(out, <-s.events.Events)
	}
	return out
}

func TestAnInvalidConfigurationLeavesTheLastValidOneInForce(t *testing.T) {
	s := newScene(t, header+"dryRun: true")
	s.write(t, header+"dryRun: sometimes\nmaxNoOfPodsToEvictTotal: -1")
	for range 2 {
		if err := s.Reload(t.Context()); err == nil {
			t.Fatal("an invalid configuration was accepted")
		}
	}
	if !s.Current().DryRun || len(s.applied) > 0 {
		t.Errorf("dry run %t, applied %v; want the first configuration in force", s.Current().DryRun, s.applied)
	}
	got := s.recorded()
	if len(got) != 1 || !strings.Contains(got[0], "dryRun: Invalid value") || !strings.Contains(got[0], "maxNoOfPodsToEvictTotal: Invalid value") {
		t.Errorf("events are %q, want one with both problems", got)
	}
	want := `
# HELP descheduler_configuration_reloads_total Changes of the configuration file, by the result: accepted, invalid, or error when it could not be read or applied.
# TYPE descheduler_configuration_reloads_total counter
descheduler_configuration_reloads_total{result="invalid"} 1
# HELP descheduler_configuration_valid 1 when the configuration file is in force, 0 when it was refused and the last valid one is.
# TYPE descheduler_configuration_valid gauge
descheduler_configuration_valid 0
`
	if err := testutil.GatherAndCompare(s.registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}

func TestAChangedConfigurationIsAppliedOnce(t *testing.T) {
	s := newScene(t, header)
	s.write(t, header+"dryRun: true")
	for range 2 {
		if err := s.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]bool{true}, s.applied); diff != "" || !s.Current().DryRun {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Normal ConfigurationAccepted the configuration is in force"}, s.recorded()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestAConfigurationThatCouldNotBeAppliedIsTriedAgain(t *testing.T) {
	s := newScene(t, header)
	s.write(t, header+"dryRun: true")
	s.apply = errors.New("the API server does not answer")
	if err := s.Reload(t.Context()); err == nil || s.Current().DryRun {
		t.Fatalf("error %v, dry run %t", err, s.Current().DryRun)
	}
	s.apply = nil
	if err := s.Reload(t.Context()); err != nil || !s.Current().DryRun {
		t.Errorf("error %v, dry run %t; want it applied", err, s.Current().DryRun)
	}
}

func TestAFileThatIsGoneLeavesTheConfigurationInForce(t *testing.T) {
	s := newScene(t, header+"dryRun: true")
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	if err := s.Reload(t.Context()); !errors.Is(err, os.ErrNotExist) || !s.Current().DryRun {
		t.Errorf("error %v, dry run %t", err, s.Current().DryRun)
	}
}

func TestTheFirstConfigurationMustBeValid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(header+"profile: []"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := configuration.Load(t.Context(), configuration.Options{Path: path, Registry: registry()})
	if err == nil || !strings.Contains(err.Error(), "profile: Forbidden: unknown field") {
		t.Errorf("error is %v", err)
	}
}
