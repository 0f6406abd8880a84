package loadaware

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// APIVersion of the plugin arguments.
const APIVersion = "kubescheduler.config.k8s.io/v1"

// DecodeArgs reads plugin arguments from JSON, fills in defaults and validates them. Unknown fields are errors, and
// those that are spelt in another case are unknown, as everywhere in Kubernetes. Empty input stands for the defaults. An
// error about fields names every wrong one.
func DecodeArgs(raw []byte) (*Args, error) {
	args := &Args{}
	if len(bytes.TrimSpace(raw)) > 0 {
		var object map[string]any
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, fmt.Errorf("decode %s: %w", Kind, err)
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object, args, true); err != nil {
			return nil, fmt.Errorf("decode %s: %w", Kind, err)
		}
	}
	if args.Kind != "" && args.Kind != Kind {
		return nil, fmt.Errorf("decode %s: kind is %q", Kind, args.Kind)
	}
	if args.APIVersion != "" && args.APIVersion != APIVersion {
		return nil, fmt.Errorf("decode %s: apiVersion is %q, want %q", Kind, args.APIVersion, APIVersion)
	}
	SetDefaults(args)
	if errs := Validate(args); len(errs) > 0 {
		return nil, fmt.Errorf("validate %s: %w", Kind, errs.ToAggregate())
	}
	return args, nil
}
