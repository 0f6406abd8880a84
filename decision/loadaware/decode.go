package loadaware

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// APIVersion of the plugin arguments.
const APIVersion = "kubescheduler.config.k8s.io/v1"

// DecodeArgs reads plugin arguments from JSON, fills in defaults and validates them. Unknown fields are errors; empty
// input stands for the defaults. A validation error names every wrong field.
func DecodeArgs(raw []byte) (*Args, error) {
	args := &Args{}
	if len(bytes.TrimSpace(raw)) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(args); err != nil {
			return nil, fmt.Errorf("decode %s: %w", Kind, err)
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("decode %s: unexpected data after the object", Kind)
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
