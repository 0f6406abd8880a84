package printer

import (
	"io"
	"path"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// agentPods prints for each pod what is set, what is in force, and who wants it so.
func agentPods(w io.Writer, pods []diagnosticsv1alpha1.PodSettings, o Options) error {
	for i := range pods {
		pod := &pods[i]
		if err := title(w, "Pod "+pod.Namespace+"/"+pod.Name+" ("+orNone(pod.QoSClass)+", "+orNone(string(pod.KubernetesQoSClass))+")", o); err != nil {
			return err
		}
		if len(pod.Settings) == 0 {
			if err := line(w, o, Dim, "no feature sets a value for it"); err != nil {
				return err
			}
			continue
		}
		t := table{indent: 2, columns: []column{
			{header: "OF", flexible: 10}, {header: "SETTING"}, {header: "DESIRED", flexible: 8}, {header: "IN-FORCE", flexible: 10}, {header: "OWNER", drop: 1},
			{header: "WHY", flexible: 20, drop: 2, says: true},
		}}
		for s := range pod.Settings {
			setting := &pod.Settings[s]
			t.add(text(settingOf(setting)), text(setting.Setting), text(orNone(setting.Desired)), settingInForce(setting, o), text(setting.Owner),
				painted(Dim, settingWhy(setting)))
		}
		if _, err := t.render(w, o); err != nil {
			return err
		}
	}
	return nil
}

// settingOf names a container, or the last part of a cgroup.
func settingOf(s *diagnosticsv1alpha1.CgroupSetting) string {
	if s.Container != "" {
		return s.Container
	}
	return path.Base(s.Cgroup)
}

func settingInForce(s *diagnosticsv1alpha1.CgroupSetting, o Options) cell {
	switch {
	case s.Matches:
		return styled(o.Style.Mark(Good) + " " + o.Style.Clean(orNone(s.Effective)))
	case s.Error != "":
		return styled(o.Style.Mark(Bad) + " " + o.Style.Paint(Bad, o.Style.Clean(s.Error)))
	}
	return styled(o.Style.Mark(Warn) + " " + o.Style.Paint(Warn, o.Style.Clean(orNone(s.Effective))))
}

func settingWhy(s *diagnosticsv1alpha1.CgroupSetting) string {
	why := s.Why
	for _, owner := range s.Outranked {
		if why != "" {
			why += "; "
		}
		why += "shadows " + owner
	}
	return why
}
