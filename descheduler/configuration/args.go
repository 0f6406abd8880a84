package configuration

import (
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"

	"koordinator.sh/koord/api/descheduler/v1alpha2"
	"koordinator.sh/koord/descheduler/pluginargs"
)

// A configured plugin is an entry of pluginConfig.
type configured struct {
	args runtime.Object
	path *field.Path
	used bool
}

// pluginConfig reads the arguments of plugins, by their names.
func (r *reader) pluginConfig(list []v1alpha2.PluginConfig, path *field.Path) map[string]*configured {
	out := map[string]*configured{}
	for i, entry := range list {
		at := path.Index(i)
		if !r.known(entry.Name, at.Child("name")) {
			continue
		}
		if out[entry.Name] != nil {
			r.report(field.Duplicate(at.Child("name"), entry.Name))
			continue
		}
		out[entry.Name] = &configured{args: r.args(entry.Name, entry.Args.Raw, at.Child("args")), path: at}
	}
	return out
}

// args reads the arguments of one plugin: strictly, with defaults, validated. What is not valid is reported, and nil returned.
func (r *reader) args(name string, raw json.RawMessage, path *field.Path) runtime.Object {
	plugin, ok := r.registry[name]
	if !ok || plugin.PluginArgInstance == nil {
		return nil
	}
	object := plugin.PluginArgInstance.DeepCopyObject()
	before := len(r.problems)
	r.report(decodeArgs(raw, name+"Args", pluginargs.Target(object), path)...)
	if len(r.problems) > before {
		return nil
	}
	object.GetObjectKind().SetGroupVersionKind(v1alpha2.GroupVersion.WithKind(name + "Args"))
	r.report(invalidArgs(complete(plugin, object), name, path)...)
	if len(r.problems) > before {
		return nil
	}
	return object
}

// complete fills in the defaults of arguments and validates them. A plugin that panics on them refuses them.
func complete(plugin pluginregistry.PluginUtilities, object runtime.Object) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the plugin panics on its arguments: %v", cause)
		}
	}()
	if plugin.PluginArgDefaulter != nil {
		plugin.PluginArgDefaulter(object)
	}
	if plugin.PluginArgValidator != nil {
		return plugin.PluginArgValidator(object)
	}
	return nil
}

// decodeArgs decodes JSON that may name its version and kind.
func decodeArgs(raw json.RawMessage, kind string, into any, path *field.Path) field.ErrorList {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(orNull(raw), &fields); err != nil {
		return field.ErrorList{field.TypeInvalid(path, field.OmitValueType{}, "must be an object")}
	}
	var problems field.ErrorList
	for name, want := range map[string]string{"apiVersion": v1alpha2.GroupVersion.String(), "kind": kind} {
		given, ok := fields[name]
		if !ok {
			continue
		}
		delete(fields, name)
		var value string
		if err := json.Unmarshal(given, &value); err != nil {
			problems = append(problems, field.TypeInvalid(path.Child(name), field.OmitValueType{}, "must be a string"))
		} else if value != want && value != "" {
			problems = append(problems, field.NotSupported(path.Child(name), value, []string{want}))
		}
	}
	return append(problems, decodeFields(fields, into, path)...)
}

// invalidArgs puts what a plugin says about its arguments below their path.
func invalidArgs(err error, name string, path *field.Path) field.ErrorList {
	if err == nil {
		return nil
	}
	var many interface{ Errors() []error }
	if errors.As(err, &many) {
		var problems field.ErrorList
		for _, one := range many.Errors() {
			problems = append(problems, invalidArgs(one, name, path)...)
		}
		return problems
	}
	var one *field.Error
	if errors.As(err, &one) {
		moved := *one
		moved.Field = below(path, one.Field).String()
		return field.ErrorList{&moved}
	}
	return field.ErrorList{field.Invalid(path, field.OmitValueType{}, name+": "+err.Error())}
}
