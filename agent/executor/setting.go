package executor

import (
	slashes "path"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/parameter"
	"koordinator.sh/koord/agent/host/process"
)

// Setting is a kind of file: where it is, and how its values are written and read. Two that are equal are the same, so that it
// must be comparable. See cgroup.Setting, parameter.Parameter and process.OOMScore.
type Setting interface {
	// Key names it in the store, in which it is found again.
	Key() string
	// Locate returns the tree and the file of what it is set of; false where there is none.
	Locate(layout cgroup.Layout, of string) (files.Tree, string, bool)
	// Encode returns what is written for a value; it fails on what no kernel takes.
	Encode(version cgroup.Version, value string) (string, error)
	// Decode returns the value in what was read, one way for each.
	Decode(version cgroup.Version, content string) (string, error)
	// Own returns the part of a file's content that is the setting's, as it can be written back.
	Own(version cgroup.Version, content string) string
	// Looser reports whether the first value lets something have what the second does not; Join lets it have what either does.
	Looser(a, b string) bool
	Join(a, b string) string
	// Rank is its place among settings of the same thing that grow.
	Rank() int
}

// ephemeralSetting is a setting of what can end and be followed by another of the same name.
type ephemeralSetting interface {
	// Open opens the directory of what is meant and of nothing else. The error says by files.IsGone that it has ended.
	Open(tree files.FS, version cgroup.Version, of string) (files.Subtree, error)
}

// settingByKey returns the setting that the store has by a key.
func settingByKey(key string) (Setting, bool) {
	if setting, known := cgroup.ByKey(key); known {
		return setting, true
	}
	if setting, known := parameter.ByKey(key); known {
		return setting, true
	}
	if setting, known := process.ByKey(key); known {
		return setting, true
	}
	return nil, false
}

// openedFile is where a file is at the moment.
type openedFile struct {
	tree files.FS
	path string
	// object is the file in the audit log.
	object string
	// subtree to release; nil where there is none.
	subtree files.Subtree
}

func (p openedFile) close() {
	if p.subtree != nil {
		_ = p.subtree.Close() // nothing is written by that
	}
}

// open finds the file of a target. The place must be closed.
func (o *Options) open(t target) (openedFile, error) {
	tree, path, has := t.setting.Locate(o.Layout, t.of)
	out := openedFile{tree: o.Tree, path: path, object: tree.Prefix() + path}
	switch tree {
	case files.Proc:
		out.tree = o.Proc
	case files.Sys:
		out.tree = o.Sys
	}
	if !has || out.tree == nil {
		return out, errUnsupported
	}
	ending, ends := t.setting.(ephemeralSetting)
	if !ends {
		return out, nil
	}
	subtree, err := ending.Open(out.tree, o.Layout.Version, t.of)
	if err != nil {
		return out, err
	}
	out.tree, out.path, out.subtree = subtree, slashes.Base(path), subtree
	return out, nil
}
