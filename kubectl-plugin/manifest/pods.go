package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"koordinator.sh/koord/source"
)

// Pods are the pods of manifests, with what is worth a warning: unknown fields, and objects that have no pod.
type Pods struct {
	documents
	Items []source.AdmissionPod
}

// NewPods returns no pods yet. Objects that name no namespace are in this one, and where it is enforced, no object may name another one.
func NewPods(namespace string, enforced bool) *Pods {
	return &Pods{documents: documents{namespace: namespace, enforced: enforced}}
}

// Read adds the pods of a manifest of YAML documents or of JSON. What is wrong with a document is an error that names it.
func (p *Pods) Read(in io.Reader) error { return p.read(in, p.add) }

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
		return each(list, depth, p.add)
	}
	meta, template := templateOf(object)
	if template == nil {
		p.warn("skipped: %s %q has no pod", kind.Kind, nameOf(object))
		return nil
	}
	if err := p.foreign(kind.Kind, meta); err != nil {
		return err
	}
	if len(template.Spec.Containers) == 0 {
		return fmt.Errorf("%s %q has no containers", kind.Kind, meta.Name)
	}
	if len(p.Items) == MaxPods {
		return fmt.Errorf("there are more than %d pods", MaxPods)
	}
	item := source.AdmissionPod{Kind: kind.Kind, Name: meta.Name, Document: p.count, Pod: p.podOf(kind.Kind, meta, template)}
	item.APIVersion = kind.GroupVersion().String()
	p.Items = append(p.Items, item)
	return nil
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
