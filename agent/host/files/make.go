package files

// MakeDirectory makes one directory below one that exists, as a cgroup is made. An error that wraps fs.ErrExist says that it is there.
func (r *Real) MakeDirectory(path string) error { return r.root.Mkdir(path, 0o755) }

// RemoveDirectory removes one directory, as a cgroup is removed: the kernel refuses one with processes or cgroups in it.
func (r *Real) RemoveDirectory(path string) error {
	// Only rmdir removes a cgroup: its files cannot be.
	return r.root.Remove(path)
}
