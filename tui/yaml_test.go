package tui

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/source"
	"koordinator.sh/koord/tui/internal/fixture"
)

// whole is all lines of the text of the current page, without styles, as wide as they are.
func (r *rig) whole() string {
	r.t.Helper()
	r.resize(400, 600)
	lines := strings.Split(r.plain(), "\n")
	return strings.Join(lines[2:len(lines)-2], "\n")
}

// TestYAMLWithoutObjectsIsAnExplanation of the API, which other programs can read, for every kind.
func TestYAMLWithoutObjectsIsAnExplanation(t *testing.T) {
	for kind, want := range map[source.Kind]string{
		source.KindNode: "NodeExplanation", source.KindPod: "PodExplanation", source.KindMigration: "MigrationExplanation",
		source.KindQuota: "QuotaOverview", source.KindGang: "GangExplanation", source.KindReservation: "Reservation", source.KindDevice: "DeviceOverview",
		source.KindWorkers: "WorkersExplanation",
	} {
		t.Run(kind.Name, func(t *testing.T) {
			r := newRig(t, 30).start()
			r.run(r.m.open(yamlName, samples[kind]))
			text := r.whole()
			var read struct {
				APIVersion, Kind string
				Metadata         struct{ Name, Namespace string }
			}
			if err := yaml.Unmarshal([]byte(text), &read); err != nil {
				t.Fatalf("it is not YAML: %v\n%s", err, text)
			}
			if group, _, _ := strings.Cut(read.APIVersion, "/"); read.Kind != want || !strings.HasSuffix(group, ".koordinator.sh") {
				t.Errorf("it is a %s of %s, want a %s", read.Kind, read.APIVersion, want)
			}
			if about := samples[kind]; read.Metadata.Name != about.name || read.Metadata.Namespace != about.namespace {
				t.Errorf("it is about %s in %q", read.Metadata.Name, read.Metadata.Namespace)
			}
		})
	}
}

// objectless is a source that can read objects, and has none of the one kind.
type objectless struct {
	fixture.Objects
	kind source.Kind
}

func (o *objectless) Object(ctx context.Context, kind source.Kind, namespace, name string) (*unstructured.Unstructured, error) {
	if kind == o.kind {
		return nil, notFound(kind, name)
	}
	return o.Objects.Object(ctx, kind, namespace, name)
}

// TestAGangWithoutAPodGroupHasYAML: that its pods describe it themselves is no error.
func TestAGangWithoutAPodGroupHasYAML(t *testing.T) {
	for name, tc := range map[string]struct {
		about object
		want  []string
	}{
		"a gang of which there is no object": {gangObject("ml", "lost"), []string{"kind: GangExplanation", "name: lost", "state: Invalid"}},
		"a gang that does not exist":         {gangObject("ml", "nope"), []string{`error: get podgroups "nope": not found`, "KOORD0003"}},
		"another kind has its object":        {nodeObject("node-0001"), []string{"kind: Node\n", "name: node-0001"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 30)
			r.m.source = &objectless{fixture.Objects{Source: r.src}, source.KindGang}
			r.start()
			r.run(r.m.open(yamlName, tc.about))
			says(t, r.whole(), tc.want, nil)
		})
	}
}
