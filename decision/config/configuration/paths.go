package configuration

import (
	"fmt"
	"strings"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/finding"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/configmerge"
)

// paths checks the applications outside of Kubernetes: whether their names are unique, and whether their cgroups stay
// below their bases.
func (v *validation) paths() {
	document, err := configuration.Decode[configuration.HostApplicationCfg](v.in.Data, hostKey)
	if err != nil || document == nil || v.unreadable[hostKey] {
		return
	}
	v.applications(document.Applications, "", configmerge.LayerCluster)
	for i, entry := range document.NodeConfigs {
		layer := "node strategy " + entry.Name
		if entry.Name == "" {
			layer = fmt.Sprintf("node strategy #%d", i+1)
		}
		v.applications(entry.Applications, fmt.Sprintf("nodeConfigs[%d]", i), layer)
	}
}

func (v *validation) applications(list []slov1alpha1.HostApplicationSpec, path, layer string) {
	first := map[string]string{}
	for i, application := range list {
		at := configmerge.JoinPath(path, fmt.Sprintf("applications[%d]", i))
		report := func(code finding.Code, path, message, cause, fix string) {
			v.add(Finding{Code: code, Severity: diagnosticsv1alpha1.SeverityError, Key: hostKey, Path: path, Layers: []string{layer},
				Message: message, Cause: cause, Fix: fix})
		}
		before, twice := first[application.Name]
		switch {
		case application.Name == "":
			report(finding.ConfigOutOfRange, at, at+" has no name", "Its usage is reported by name.", "Give it a name.")
		case twice:
			report(finding.ConfigDuplicate, at+".name", fmt.Sprintf("%s and %s are both named %q", before, at, application.Name),
				"Their usage is reported by name.", "Give them different names.")
		default:
			first[application.Name] = at
		}
		if group := application.CgroupPath; group != nil && (climbs(group.ParentDir) || climbs(group.RelativePath)) {
			report(finding.ConfigOutOfRange, at+".cgroupPath", "the cgroup of "+application.Name+" is outside its base", `A part of the path is "..".`,
				"Name a path below the base.")
		}
	}
}

func climbs(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == ".." {
			return true
		}
	}
	return false
}
