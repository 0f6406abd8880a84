package manifest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	sigsyaml "sigs.k8s.io/yaml"

	"koordinator.sh/koord/source"
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

// Pods are the pods of manifests, with what is worth a warning.
type Pods struct {
	Items []source.AdmissionPod
	// Warnings are unknown fields, and objects that have no pod.
	Warnings []string
	// namespace of objects that name none; enforced where another one is an error.
	namespace string
	enforced  bool
	documents int
	bytes     int64
}

// NewPods returns no pods yet. Objects that name no namespace are in this one, and where it is enforced, no object may name another one.
func NewPods(namespace string, enforced bool) *Pods {
	return &Pods{namespace: namespace, enforced: enforced}
}

// Read adds the pods of a manifest of YAML documents or of JSON. What is wrong with a document is an error that names it.
func (p *Pods) Read(in io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(in, MaxBytes-p.bytes+1))
	if err != nil {
		return err
	}
	if p.bytes += int64(len(text)); p.bytes > MaxBytes {
		return fmt.Errorf("the manifests are larger than %d MiB", MaxBytes>>20)
	}
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read document %d: %w", p.documents+1, err)
		}
		if empty(document) {
			continue
		}
		p.documents++
		encoded, err := sigsyaml.YAMLToJSONStrict(document)
		if err == nil {
			err = p.add(encoded, 0)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", p.documents, err)
		}
	}
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

// add adds the pod of one object in JSON, or those of a list.
func (p *Pods) add(document []byte, depth int) error {
	object, kind, err := decoder.Decode(document, nil, nil)
	switch {
	case runtime.IsStrictDecodingError(err) && object != nil:
		p.warn("%v", err)
	case runtime.IsNotRegisteredError(err):
		var meta metav1.TypeMeta
		_ = json.Unmarshal(document, &meta) // the decoder has read it already
		p.warn("skipped: kind %s of %s is unknown", meta.Kind, meta.APIVersion)
		return nil
	case runtime.IsMissingKind(err):
		return errors.New("it has no kind")
	case err != nil:
		return err
	}
	if list, isList := object.(*corev1.List); isList {
		return p.addList(list, depth)
	}
	meta, template := templateOf(object)
	if template == nil {
		p.warn("skipped: %s %q has no pod", kind.Kind, nameOf(object))
		return nil
	}
	if p.enforced && meta.Namespace != "" && meta.Namespace != p.namespace {
		return fmt.Errorf("%s %q is in namespace %q, which is not the namespace %q of --namespace", kind.Kind, meta.Name, meta.Namespace, p.namespace)
	}
	if len(template.Spec.Containers) == 0 {
		return fmt.Errorf("%s %q has no containers", kind.Kind, meta.Name)
	}
	if len(p.Items) == MaxPods {
		return fmt.Errorf("there are more than %d pods", MaxPods)
	}
	item := source.AdmissionPod{Kind: kind.Kind, Name: meta.Name, Document: p.documents, Pod: p.podOf(kind.Kind, meta, template)}
	item.APIVersion = kind.GroupVersion().String()
	p.Items = append(p.Items, item)
	return nil
}

func (p *Pods) addList(list *corev1.List, depth int) error {
	if depth == maxDepth {
		return fmt.Errorf("lists are nested more than %d deep", maxDepth)
	}
	for i := range list.Items {
		if err := p.add(list.Items[i].Raw, depth+1); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
	}
	return nil
}

func (p *Pods) warn(format string, values ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf("document %d: ", p.documents)+fmt.Sprintf(format, values...))
}

// podOf is the pod of an object; that of a workload as its controller creates it.
func (p *Pods) podOf(kind string, meta *metav1.ObjectMeta, template *corev1.PodTemplateSpec) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: *template.ObjectMeta.DeepCopy(), Spec: *template.Spec.DeepCopy()}
	pod.Namespace = cmp.Or(meta.Namespace, p.namespace)
	if kind != "Pod" && kind != "PodTemplate" {
		pod.Name, pod.GenerateName = "", meta.Name+"-"
		pod.OwnerReferences = []metav1.OwnerReference{{Kind: kind, Name: meta.Name, Controller: new(true)}}
	}
	return pod
}
