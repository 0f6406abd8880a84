package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsjson "sigs.k8s.io/json"

	schedulingsigsv1alpha1 "koordinator.sh/koord/api/schedulingsigs/v1alpha1"
)

// MaxQuotas of all manifests together.
const MaxQuotas = 5000

// Quotas are the ElasticQuotas of manifests, with what is worth a warning: unknown fields. Objects of other kinds are skipped.
type Quotas struct {
	documents
	Items []Quota
}

// Quota is an ElasticQuota of a manifest.
type Quota struct {
	Object schedulingsigsv1alpha1.ElasticQuota
	// Document of the manifest, from 1.
	Document int
}

// NewQuotas returns no quotas yet. Those that name no namespace are in this one, and where it is enforced, none may name another one.
func NewQuotas(namespace string, enforced bool) *Quotas {
	return &Quotas{documents: documents{namespace: namespace, enforced: enforced}}
}

// Read adds the quotas of a manifest of YAML documents or of JSON, whose documents are counted from 1. What is wrong with a document is an
// error that names it.
func (q *Quotas) Read(in io.Reader) error {
	q.count = 0
	return q.read(in, q.add)
}

func (q *Quotas) add(document []byte, depth int) error {
	var meta metav1.TypeMeta
	if err := json.Unmarshal(document, &meta); err != nil {
		return err
	}
	switch {
	case meta.Kind == "":
		return errors.New("it has no kind")
	case meta.Kind == "List" && meta.APIVersion == "v1":
		var list corev1.List
		if err := json.Unmarshal(document, &list); err != nil {
			return err
		}
		return each(&list, depth, q.add)
	case meta.GroupVersionKind() != schedulingsigsv1alpha1.GroupVersion.WithKind("ElasticQuota"):
		return nil
	}
	return q.decode(document)
}

// decode adds one ElasticQuota. Fields that it does not have are ignored, as the API server does, with a warning.
func (q *Quotas) decode(document []byte) error {
	item := Quota{Document: q.count}
	unknown, err := sigsjson.UnmarshalStrict(document, &item.Object)
	if err != nil {
		return err
	}
	for _, field := range unknown {
		q.warn("%v", field)
	}
	object := &item.Object
	if object.Name == "" {
		return errors.New("the ElasticQuota has no name")
	}
	if err := q.foreign(object.Kind, &object.ObjectMeta); err != nil {
		return err
	}
	if object.Namespace == "" {
		object.Namespace = q.namespace
	}
	if len(q.Items) == MaxQuotas {
		return fmt.Errorf("there are more than %d quotas", MaxQuotas)
	}
	q.Items = append(q.Items, item)
	return nil
}
