package proposal

import (
	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/decision/core/configmerge"
	"koordinator.sh/koord/source"
)

// Change is a configuration that is to take the place of the current one.
type Change struct {
	// Current is what was read.
	Current *source.Configuration
	// Data that the ConfigMap is to have.
	Data map[string]string
	// Cause is the command, for the history.
	Cause string
	// Redo makes the change over another state; nil when it means one state only.
	Redo func(map[string]string) (map[string]string, error)
	// Whole says that whole keys are replaced, not fields of them.
	Whole bool
}

// Subject is the object that changes, as kubectl names it.
func (c *Change) Subject() string { return "configmap/" + c.Current.Name }

// Rejected are the findings that keep a change from being written. What is wrong already and stays so is no error of the change.
func (c *Change) Rejected(found []configuration.Finding) []configuration.Finding {
	var errs []configuration.Finding
	for _, f := range found {
		if f.Rejects() && c.Data[f.Key] != c.Current.Data[f.Key] {
			errs = append(errs, f)
		}
	}
	return errs
}

// InForceNow is the configuration that the manager applies.
func InForceNow(current *source.Configuration) configmerge.Config {
	if current.Exists {
		return InForce(current.Data, current.LastGood)
	}
	last, _ := configmerge.Parse(current.LastGood)
	return configmerge.Gone(last)
}

// InForce is a configuration as the manager would apply it: a key that cannot be read keeps its last valid text.
func InForce(data, lastGood map[string]string) configmerge.Config {
	last, _ := configmerge.Parse(lastGood)
	parsed, _ := configmerge.Parse(data)
	return configmerge.KeepLastGood(last, parsed)
}
