package answers

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	configv1alpha1 "koordinator.sh/koord/api/config/v1alpha1"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	topologyv1alpha1 "koordinator.sh/koord/api/topology/v1alpha1"
)

// question is what a user asks, and what answers it.
type question struct {
	// Topic under which docs/answers.md lists it; one of topics.
	Topic string `json:"topic"`
	// Asks is the question in one sentence.
	Asks string `json:"asks"`
	// Threads are the issues of github.com/koordinator-sh/koordinator in which it was asked.
	Threads []int `json:"threads"`
	// Says is what to look at in the answer, in a sentence or two.
	Says string `json:"says"`
	// Commands are run one after the other, without the name of the program.
	Commands []string `json:"commands"`
	// Kubernetes is the version of the API server; a current one when empty.
	Kubernetes string `json:"kubernetes,omitempty"`
	// Unshown is why the page has no output of the commands, which are then not run, or why there is no command. It stands in place of objects.
	Unshown string `json:"unshown,omitempty"`
	// Denied is what the user may not do, as "verb resource".
	Denied []string `json:"denied,omitempty"`

	name    string
	objects []runtime.Object
}

// topics in the order of docs/answers.md.
var topics = []string{
	"A pod is pending", "Batch and mid resources", "Elastic quotas", "Configuration", "The node and its agent", "Eviction and descheduling",
	"Reservations, devices and NUMA",
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, analysisv1alpha1.AddToScheme, configv1alpha1.AddToScheme, schedulingv1alpha1.AddToScheme,
		schedulingsigsv1alpha1.AddToScheme, slov1alpha1.AddToScheme, topologyv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

// questions reads all files of testdata, by topic and name.
func questions(t *testing.T) []*question {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no questions: %v", err)
	}
	decoder := serializer.NewCodecFactory(newScheme(t), serializer.EnableStrict).UniversalDeserializer()
	var all []*question
	for _, file := range files {
		q, err := read(file, decoder)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, q)
	}
	slices.SortStableFunc(all, func(a, b *question) int { return slices.Index(topics, a.Topic) - slices.Index(topics, b.Topic) })
	return all
}

func read(file string, decoder runtime.Decoder) (*question, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	header, err := documents.Read()
	if err != nil {
		return nil, err
	}
	q := &question{name: strings.TrimSuffix(filepath.Base(file), ".yaml")}
	if err := yaml.UnmarshalStrict(header, q); err != nil {
		return nil, err
	}
	if !slices.Contains(topics, q.Topic) || q.Asks == "" || q.Says == "" || len(q.Commands) == 0 && q.Unshown == "" {
		return nil, fmt.Errorf("a question needs a topic of %q, asks, says, and commands unless unshown says why there are none", topics)
	}
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return q, nil
		}
		if err != nil {
			return nil, err
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			return nil, err
		}
		if q.Unshown != "" {
			return nil, errors.New("the commands are not run, and the objects for nothing")
		}
		q.objects = append(q.objects, object)
	}
}
