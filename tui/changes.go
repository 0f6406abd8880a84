package tui

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	tea "charm.land/bubbletea/v2"

	"koordinator.sh/koord/decision/config/configuration"
	"koordinator.sh/koord/source"
	"koordinator.sh/koord/source/proposal"
)

// changes are changes of the configuration, each on its way from a value that was typed to the plan of it and into the cluster.
type changes struct {
	*settings
	plan feed[*proposal.Plan]
	// writing is true while a change is written, and failed is the plan whose change was not, with the error.
	writing bool
	failed  *proposal.Plan
	err     error
}

// errUnchanged is said of a value that is there already.
var errUnchanged = errors.New("this is its value already")

// askValue asks for a new value of a setting. One that would be refused stays in the line; any other leads to its plan.
func (c *changes) askValue(name, value string) {
	c.Model.askValue(request{lead: name, take: func(value string) (tea.Cmd, error) {
		if err := c.check(name, value); err != nil {
			return nil, err
		}
		c.prompt.close()
		if c.page().screen.name == planName {
			c.leave()
		}
		return c.Model.open(planName, settingObject(name+"="+value)), nil
	}}, value)
}

// check reads a value as config set does, and finds what is wrong with the configuration that it would make.
func (c *changes) check(name, value string) error {
	current := c.rows.value
	if current == nil {
		return errors.New("the configuration is not known yet")
	}
	path, err := configuration.ParseKeyPath(name)
	if err != nil {
		return err
	}
	data, err := configuration.Assign(current.Base(), path, value)
	if err != nil {
		return err
	}
	if current.Exists && maps.Equal(data, current.Data) {
		return errUnchanged
	}
	change := proposal.Change{Current: current.Configuration, Data: data}
	if found := change.Rejected(current.Judge(data, nil)); len(found) > 0 {
		return errors.New(found[0].Message)
	}
	return nil
}

// askPlan reads the configuration and plans one change of it, KEY.PATH=VALUE.
func askPlan(ctx context.Context, src source.Source, assignment string, now func() time.Time) (*proposal.Plan, error) {
	configurator, err := offered[source.Configurator](src, "plan a change of the configuration")
	if err != nil {
		return nil, err
	}
	path, value, err := configuration.ParseAssignment(assignment)
	if err != nil {
		return nil, err
	}
	current, err := configurator.Configuration(ctx, "")
	if err != nil {
		return nil, err
	}
	data, err := configuration.Assign(current.Base(), path, value)
	if err != nil {
		return nil, err
	}
	return proposal.Of(ctx, configurator, proposal.Change{Current: current, Data: data}, now())
}

// unchanged says whether a plan has nothing to write.
func unchanged(plan *proposal.Plan) bool {
	return plan.Change.Current.Exists && maps.Equal(plan.Change.Data, plan.Change.Current.Data)
}

// commandOn opens a screen about a change that a command names.
func commandOn(screen string) func(*Model, string) tea.Cmd {
	return func(m *Model, args string) tea.Cmd {
		if args == "" {
			return m.say(fmt.Sprintf("change required: :%s KEY.PATH=VALUE", screen), true)
		}
		if _, _, err := configuration.ParseAssignment(args); err != nil {
			return m.say(err.Error(), true)
		}
		return m.open(screen, settingObject(args))
	}
}

// assignments complete the key paths for a value to follow.
func (c *changes) assignments(*Model) []string {
	names := c.names()
	for i := range names {
		names[i] += "="
	}
	return names
}
