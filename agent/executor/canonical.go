package executor

import "koordinator.sh/koord/agent/host/cgroup"

// canonicalizer returns a value as it reads back once it was written, or why no kernel takes it.
type canonicalizer func(setting Setting, value string) (string, error)

func canonicalIn(version cgroup.Version) canonicalizer {
	return func(setting Setting, value string) (string, error) {
		content, err := setting.Encode(version, value)
		if err != nil {
			return "", err
		}
		return setting.Decode(version, content)
	}
}

// maxCanonicals are remembered. Cgroups of one kind want the same values, so that this is many times what is wanted of a node at once.
const maxCanonicals = 2048

// canonicals remembers values: what is wanted is mostly what was wanted a second ago. One goroutine at a time may use it.
type canonicals struct {
	find  canonicalizer
	known map[valueKey]canonicalValue
}

type valueKey struct {
	setting Setting
	value   string
}

type canonicalValue struct {
	value string
	err   error
}

func (c *canonicals) of(setting Setting, value string) (string, error) {
	key := valueKey{setting, value}
	if found, is := c.known[key]; is {
		return found.value, found.err
	}
	if len(c.known) >= maxCanonicals {
		clear(c.known)
	}
	got, err := c.find(setting, value)
	c.known[key] = canonicalValue{got, err}
	return got, err
}
