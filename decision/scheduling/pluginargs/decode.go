package pluginargs

import (
	"bytes"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// APIVersion of all plugin arguments.
const APIVersion = "kubescheduler.config.k8s.io/v1"

// Read is the one way to the arguments of a plugin: it decodes them, fills in defaults and validates. defaults may be nil. An error
// about fields names every one that is wrong.
func Read[T any](object runtime.Object, kind string, defaults func(*T), validate func(*T) field.ErrorList) (*T, error) {
	args := new(T)
	if err := decode(object, kind, args); err != nil {
		return nil, err
	}
	if defaults != nil {
		defaults(args)
	}
	if err := invalid(kind, validate(args)); err != nil {
		return nil, err
	}
	return args, nil
}

// decode reads the arguments of the given kind from the object that a scheduler hands to a plugin's factory: nil for no
// arguments, or JSON not decoded yet. Unknown fields are errors, and those that are spelt in another case are unknown, as
// everywhere in Kubernetes. What is not given is zero in into, a pointer to a struct with json tags; defaults are set
// afterwards.
func decode(object runtime.Object, kind string, into any) error {
	switch typed := object.(type) {
	case nil:
		return nil
	case *runtime.Unknown:
		if typed.ContentType != "" && typed.ContentType != runtime.ContentTypeJSON {
			return fmt.Errorf("decode %s: content type %q is not JSON", kind, typed.ContentType)
		}
		return decodeJSON(typed.Raw, kind, into)
	}
	return fmt.Errorf("decode %s: unexpected type %T", kind, object)
}

func decodeJSON(raw []byte, kind string, into any) error {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil
	}
	var object map[string]any
	if err := json.Unmarshal(raw, &object); err != nil {
		return fmt.Errorf("decode %s: %w", kind, err)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, into, true); err != nil {
		return fmt.Errorf("decode %s: %w", kind, err)
	}
	var header metav1.TypeMeta
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &header); err != nil {
		return fmt.Errorf("decode %s: %w", kind, err)
	}
	if header.Kind != "" && header.Kind != kind {
		return fmt.Errorf("decode %s: kind is %q", kind, header.Kind)
	}
	if header.APIVersion != "" && header.APIVersion != APIVersion {
		return fmt.Errorf("decode %s: apiVersion is %q, want %q", kind, header.APIVersion, APIVersion)
	}
	return nil
}

// invalid turns the problems that a validation found into one error, nil when there are none.
func invalid(kind string, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("validate %s: %w", kind, problems.ToAggregate())
}
