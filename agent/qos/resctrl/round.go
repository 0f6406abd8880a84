package resctrl

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"koordinator.sh/koord/agent/audit"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/resctrl"
	"koordinator.sh/koord/agent/qos"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	decision "koordinator.sh/koord/decision/nodeqos/resctrl"
)

// round is one pass over the groups.
type round struct {
	reconciler *Reconciler
	ctx        context.Context
	in         qos.NodeSnapshot
	tree       resctrl.Tree
	capability resctrl.Capability
	problems   []error
}

// run brings the groups to the plan: what is not wanted any more goes first, because groups are few.
func (r *round) run() error {
	pods, notes := r.reconciler.podsOf(r.in)
	existing, err := r.groups()
	if err != nil {
		return fmt.Errorf("list the groups of resctrl: %w", err)
	}
	plan := r.plan(pods, existing, r.freeGroups(existing))
	if len(plan.Groups) == 0 && len(r.reconciler.managed) == 0 {
		r.reconciler.setState(r, plan, notes)
		return nil
	}
	for room := -1; ; {
		if err := r.removeUnwanted(plan.Groups); err != nil {
			r.problems = append(r.problems, err)
		}
		if full := r.createGroups(plan.Groups); !full {
			break
		}
		// Something else takes room as well, such as monitoring: as many as there are have to do. Those that rank lower make room for
		// those that are missing, and where that does not help there are fewer each time.
		if existing, err = r.groups(); err != nil {
			return fmt.Errorf("list the groups of resctrl: %w", err)
		}
		own := len(r.reconciler.ownGroups(existing))
		if own == room {
			break // a group that is to make room cannot be removed
		}
		room = own
		plan = r.plan(pods, existing, room)
	}
	for _, group := range plan.Groups {
		if err := r.writeSchemata(group); err != nil {
			r.problems = append(r.problems, err)
		}
	}
	r.moveContainers(plan)
	r.reconciler.setState(r, plan, notes)
	return errors.Join(r.problems...)
}

func (r *round) plan(pods []decision.Pod, existing []string, room int) decision.Plan {
	var strategy *slov1alpha1.ResourceQOSStrategy
	if r.reconciler.options.Classes {
		strategy = r.in.SLO.ResourceQOSStrategy
	}
	return decision.Decide(r.capability.Machine, strategy, pods, decision.Inventory{Room: room, Existing: r.reconciler.ownGroups(existing)})
}

// groups lists all but the root group.
func (r *round) groups() ([]string, error) {
	names, err := r.tree.Directories(".")
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == "info" || name == "mon_data" || name == "mon_groups" })
	slices.Sort(names)
	return names, nil
}

// freeGroups is how many groups may be the agent's: a group of its name that is there already is one of them.
func (r *round) freeGroups(existing []string) int {
	if r.capability.Groups == 0 {
		return -1
	}
	others := 0
	for _, name := range existing {
		if r.reconciler.managed[name] == nil && !isAgentGroup(name) {
			others++
		}
	}
	return max(r.capability.Groups-1-others, 0)
}

// isAgentGroup is true for the names that the agent uses.
func isAgentGroup(name string) bool {
	return name == decision.GroupBE || name == decision.GroupLS || name == decision.GroupLSR || strings.HasPrefix(name, decision.PodGroupPrefix)
}

// createGroups makes the groups that are not there, and reports whether the processor had no room for one.
func (r *round) createGroups(groups []decision.Group) (full bool) {
	for _, group := range groups {
		exists := r.tree.Exists(group.Name + "/schemata")
		if err := r.manage(group.Name, exists); err != nil {
			r.problems = append(r.problems, err)
			continue
		}
		if exists {
			continue
		}
		err := r.tree.Make(group.Name)
		r.audit(group.Name, "", "made", "pods with their own resctrl shares use it", err)
		if err != nil {
			delete(r.reconciler.managed, group.Name)
			if full = errors.Is(err, syscall.ENOSPC); full {
				return full
			}
			r.problems = append(r.problems, err)
		}
	}
	return false
}

// manage records a group before it is changed: its current schemata, or that it does not exist. A group of another process that was
// removed since is one that the agent creates.
func (r *round) manage(name string, exists bool) error {
	before := r.reconciler.managed[name]
	if before != nil && (exists || before.Made) {
		return nil
	}
	held := &managedGroup{Made: !exists}
	if exists {
		original, err := r.tree.Read(name+"/schemata", nil)
		if err != nil {
			return err
		}
		held.Original = string(original)
	}
	r.reconciler.managed[name] = held
	if err := r.reconciler.save(); err != nil {
		if delete(r.reconciler.managed, name); before != nil {
			r.reconciler.managed[name] = before
		}
		return err
	}
	return nil
}

// removeUnwanted gives back the groups that are held and not wanted. The root group gets the threads of a group that is removed.
func (r *round) removeUnwanted(wanted []decision.Group) error {
	var problems []error
	changed := false
	for _, name := range slices.Sorted(maps.Keys(r.reconciler.managed)) {
		if slices.ContainsFunc(wanted, func(g decision.Group) bool { return g.Name == name }) {
			continue
		}
		held := r.reconciler.managed[name]
		var err error
		if held.Made {
			err = r.tree.Remove(name)
			if !files.IsGone(err) {
				r.audit(name, "made", "", "no pod with its own resctrl shares uses it any more", err)
			}
		} else {
			err = r.restoreGroup(name, held)
		}
		if err != nil && !files.IsGone(err) {
			problems = append(problems, err)
			continue
		}
		delete(r.reconciler.managed, name)
		changed = true
	}
	if changed {
		problems = append(problems, r.reconciler.save())
	}
	return errors.Join(problems...)
}

// restoreGroup restores a group that was there before the agent.
func (r *round) restoreGroup(name string, held *managedGroup) error {
	shown, err := r.tree.Read(name+"/schemata", nil)
	if err != nil {
		return err
	}
	if err := r.moveToRoot(name, held); err != nil {
		return err
	}
	original, err := resctrl.ParseSchemata(held.Original)
	if err != nil {
		return err
	}
	if current, err := resctrl.ParseSchemata(string(shown)); err == nil && current.Has(original) {
		return nil
	}
	var lines strings.Builder
	for line := range strings.Lines(held.Original) {
		lines.WriteString(strings.TrimSpace(line) + "\n")
	}
	err = r.tree.Write(name+"/schemata", lines.String())
	r.audit(name+"/schemata", oneLine(string(shown)), oneLine(held.Original), "no feature sets it any more", err)
	return err
}

// moveToRoot puts the threads of the agent's containers, and those that they started, back into the root group.
func (r *round) moveToRoot(name string, held *managedGroup) error {
	if len(held.Containers) == 0 {
		return nil
	}
	content, err := r.tree.Read(name+"/tasks", nil)
	if err != nil {
		return err
	}
	moved := 0
	var problems []error
	for _, thread := range qos.Numbers(content) {
		if !qos.Within(r.reconciler.options.Proc, thread, held.Containers...) {
			continue
		}
		switch err := r.tree.Write("tasks", strconv.Itoa(thread)); {
		case errors.Is(err, syscall.ESRCH): // it has ended
		case err != nil:
			problems = append(problems, err)
		default:
			moved++
		}
	}
	err = errors.Join(problems...)
	if moved > 0 || err != nil {
		r.audit("tasks", "", fmt.Sprintf("%d threads of %s", moved, name), "no feature places them there any more", err)
	}
	return err
}

// writeSchemata brings the schemata of a group to the plan. What the kernel rounds stays as it made it.
func (r *round) writeSchemata(group decision.Group) error {
	path, held := group.Name+"/schemata", r.reconciler.managed[group.Name]
	if held == nil {
		return nil // it could not be made
	}
	content, err := r.tree.Read(path, nil)
	if err != nil {
		return err
	}
	text := strings.Join(group.Schemata.Lines(), "\n") + "\n"
	if held.written == text && held.readBack == string(content) {
		return nil
	}
	current, err := resctrl.ParseSchemata(string(content))
	if err != nil {
		return err
	}
	wanted, err := resctrl.ParseSchemata(text)
	if err != nil {
		return err
	}
	if !held.Made && held.readBack != "" && held.readBack != string(content) && !current.Has(wanted) {
		held.Original = string(content) // another process wrote since: that is what the group is without the agent
		if err := r.reconciler.save(); err != nil {
			return err
		}
	}
	if !current.Has(wanted) {
		err := r.tree.Write(path, text)
		r.audit(path, oneLine(string(content)), oneLine(text), "shares of "+group.Name, err)
		if err != nil {
			return fmt.Errorf("%w: %s", err, r.lastCommandStatus())
		}
		if content, err = r.tree.Read(path, nil); err != nil {
			return err
		}
	}
	held.written, held.readBack = text, string(content)
	return nil
}

// lastCommandStatus is what the kernel says of the last command.
func (r *round) lastCommandStatus() string {
	content, err := r.tree.Read("info/last_cmd_status", nil)
	if err != nil {
		return "no reason is known"
	}
	return strings.TrimSpace(string(content))
}

func (r *round) audit(object, before, after, why string, err error) {
	entry := audit.Entry{Time: r.in.Now, Owner: r.reconciler.Name(), Object: "resctrl/" + object, Old: before, New: after, Why: why}
	if err != nil {
		entry.New, entry.Error = before, err.Error()
	}
	r.reconciler.options.Audit.Add(entry)
}

// oneLine has schemata in a line for the audit log.
func oneLine(schemata string) string { return strings.Join(strings.Fields(schemata), " ") }
