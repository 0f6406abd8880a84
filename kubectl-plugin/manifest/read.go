package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	sigsyaml "sigs.k8s.io/yaml"
)

// Bounds of what is read.
const (
	// MaxBytes of all manifests together; the API server takes objects of up to 3 MiB.
	MaxBytes = 8 << 20
	// MaxPods of all manifests together.
	MaxPods = 200
	// maxDepth of lists in lists.
	maxDepth = 4
)

// decoder knows the kinds of Kubernetes, and reports fields that they do not have.
var decoder = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()

// documents reads manifests document by document.
type documents struct {
	// Warnings are about what is read all the same, and what is skipped.
	Warnings []string
	// namespace of objects that name none; enforced where another one is an error.
	namespace string
	enforced  bool
	// count of the documents, and bytes of all manifests so far.
	count int
	bytes int64
}

// read calls add with each document of a manifest of YAML documents or of JSON, in JSON. What is wrong with one is an error that names it.
func (d *documents) read(in io.Reader, add func(document []byte, depth int) error) error {
	text, err := io.ReadAll(io.LimitReader(in, MaxBytes-d.bytes+1))
	if err != nil {
		return err
	}
	if d.bytes += int64(len(text)); d.bytes > MaxBytes {
		return fmt.Errorf("the manifests are larger than %d MiB", MaxBytes>>20)
	}
	reader := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read document %d: %w", d.count+1, err)
		}
		if empty(document) {
			continue
		}
		d.count++
		encoded, err := sigsyaml.YAMLToJSONStrict(document)
		if err == nil {
			err = add(encoded, 0)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", d.count, err)
		}
	}
}

// foreign is an error where the namespace of an object is not the one that is enforced.
func (d *documents) foreign(kind string, meta *metav1.ObjectMeta) error {
	if d.enforced && meta.Namespace != "" && meta.Namespace != d.namespace {
		return fmt.Errorf("%s %q is in namespace %q, which is not the namespace %q of --namespace", kind, meta.Name, meta.Namespace, d.namespace)
	}
	return nil
}

func (d *documents) warn(format string, values ...any) {
	d.Warnings = append(d.Warnings, fmt.Sprintf("document %d: ", d.count)+fmt.Sprintf(format, values...))
}

// each calls add with the items of a list.
func each(list *corev1.List, depth int, add func(document []byte, depth int) error) error {
	if depth == maxDepth {
		return fmt.Errorf("lists are nested more than %d deep", maxDepth)
	}
	for i := range list.Items {
		if err := add(list.Items[i].Raw, depth+1); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

// empty is true for a document of comments alone.
func empty(document []byte) bool {
	for line := range bytes.Lines(document) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && string(line) != "---" {
			return false
		}
	}
	return true
}
