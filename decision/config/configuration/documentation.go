package configuration

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

//go:embed documentation.json
var documentationJSON []byte

// documentation maps TYPE.FIELD to what the API says of it. It is generated from the comments of the API types.
var documentation = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	// The file is embedded; a test reads it.
	_ = json.Unmarshal(documentationJSON, &texts)
	return texts
})

// uncommented are fields whose names say what they are, and whose types carry no comment.
var uncommented = map[string]string{
	"BlockCfg.Name":            "Name of the device, volume group or volume.",
	"BlockCfg.BlockType":       "BlockType is what Name identifies: a device, an LVM volume group or a volume of the pod.",
	"IOCfg.ReadIOPS":           "ReadIOPS is the maximum number of reads per second; 0 means no limit.",
	"IOCfg.WriteIOPS":          "WriteIOPS is the maximum number of writes per second; 0 means no limit.",
	"IOCfg.ModelReadBPS":       "ModelReadBPS is the read bandwidth of the disk in bytes per second.",
	"IOCfg.ModelWriteBPS":      "ModelWriteBPS is the write bandwidth of the disk in bytes per second.",
	"IOCfg.ModelReadSeqIOPS":   "ModelReadSeqIOPS is the number of sequential reads per second that the disk can do.",
	"IOCfg.ModelWriteSeqIOPS":  "ModelWriteSeqIOPS is the number of sequential writes per second that the disk can do.",
	"IOCfg.ModelReadRandIOPS":  "ModelReadRandIOPS is the number of random reads per second that the disk can do.",
	"IOCfg.ModelWriteRandIOPS": "ModelWriteRandIOPS is the number of random writes per second that the disk can do.",
}

func describe(field configmerge.Field) string {
	name := field.Owner.Name() + "." + field.Name
	if text, ok := documentation()[name]; ok {
		return text
	}
	return uncommented[name]
}

// FieldDocumentation is what is known of one field.
type FieldDocumentation struct {
	// Key of the ConfigMap, and Path of the field inside a strategy.
	Key  string `json:"key"`
	Path string `json:"path"`
	// Kind of the value: boolean, whole number, number, text, duration, quantity, percent or quantity, any.
	Kind string `json:"kind"`
	// Range says which values are allowed; empty when all are.
	Range string `json:"range,omitempty"`
	// Default in force when the field is not set; empty for none.
	Default string `json:"default,omitempty"`
	// Description says what it does, with unit.
	Description string `json:"description,omitempty"`
	// Feature of the node agent that carries it out, with whether it is on by default; empty when it needs none.
	Feature string `json:"feature,omitempty"`
}

// Explain lists what is known of a field, or of all fields below a path. An unknown path is an error that names the
// nearest fields.
func Explain(path KeyPath) ([]FieldDocumentation, error) {
	defaults := map[string]diagnosticsv1alpha1.Setting{}
	for _, group := range configmerge.Default().Groups(path.Key) {
		for _, setting := range group.Settings {
			defaults[setting.Key] = setting
		}
	}
	below := path.Field()
	var out []FieldDocumentation
	for _, field := range configmerge.Fields(path.Key) {
		if below != "" && !isBelow(field.Path, below) {
			continue
		}
		doc := FieldDocumentation{Key: path.Key, Path: field.Path, Kind: field.Kind, Range: field.Range,
			Description: describe(field), Feature: featureOf(path.Key, field.Path)}
		doc.Default = defaults[strings.TrimSuffix(field.Path, "[]")].Value
		if field.Kind == "boolean" && doc.Range == "" {
			doc.Range = "true or false"
		}
		out = append(out, doc)
	}
	// The "any key" entry is left out when the path has named fields.
	named := func(doc FieldDocumentation) bool { return strings.HasPrefix(doc.Path, below+".") }
	if slices.ContainsFunc(out, named) {
		out = slices.DeleteFunc(out, func(doc FieldDocumentation) bool { return strings.HasSuffix(doc.Path, "*") && !named(doc) })
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no field %q%s", path.Key, below, nearestField(path.Key, below))
	}
	return out, nil
}

func isBelow(field, path string) bool {
	depth := strings.Count(path, ".") + 1
	parts := strings.SplitN(field, ".", depth+1)
	return len(parts) >= depth && sameField(strings.Join(parts[:depth], "."), path)
}

// featureOf names the feature of the node agent that carries a setting out; empty where none does.
func featureOf(key, path string) string {
	for _, feature := range nodefeature.All() {
		settings := feature.Settings
		if settings.Key != key || !slices.Contains(settings.Paths, path) {
			continue
		}
		name, state := feature.Name, "off"
		if settings.Or != "" {
			name += " or " + settings.Or
		}
		if feature.Default {
			state = "on"
		}
		return name + " (" + state + " by default)"
	}
	return ""
}

// nearestField suggests fields that end like, or contain, what was asked for.
func nearestField(key, asked string) string {
	word := strings.ToLower(asked[strings.LastIndexByte(asked, '.')+1:])
	var near []string
	for _, field := range configmerge.Fields(key) {
		if word != "" && strings.Contains(strings.ToLower(field.Path), word) {
			near = append(near, field.Path)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return ", did you mean " + strings.Join(near[:min(len(near), 3)], ", ") + "?"
}
