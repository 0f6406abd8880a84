package java

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Programs that a Project needs on the PATH: those of a JDK 17 or later, and Maven.
var Programs = []string{"java", "javac", "jar", "jlink", "mvn"}

// release of Java that sources are compiled for.
const release = "17"

// Project is an engine: jars that Maven downloads, and a few classes beside them.
type Project struct {
	// Name of the project: a file name.
	Name string
	// POM names the jars as dependencies.
	POM []byte
	// Checksums has a line for each jar, as sha256sum prints it: what is downloaded must be exactly that.
	Checksums []byte
	// Sources of the classes, by file name. They are in the jar ownJar.
	Sources map[string][]byte
}

// ownJar has the classes of Project.Sources.
const ownJar = "tutorial.jar"

// Jars returns a directory with the jars. They are downloaded once, and verified each time.
func (p Project) Jars(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache: %w", err)
	}
	directory := filepath.Join(cache, "koord", "engines", p.Name+"-"+p.sum())
	if err := p.verify(directory); err == nil {
		return directory, nil
	}
	if err := os.MkdirAll(filepath.Dir(directory), 0o755); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(directory), "download-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(fresh) }() // it was renamed, or is of no use
	if err := p.download(ctx, fresh); err != nil {
		return "", err
	}
	if err := os.RemoveAll(directory); err != nil {
		return "", err
	}
	return directory, os.Rename(fresh, directory)
}

// sum is of everything that decides what the jars are.
func (p Project) sum() string {
	sum := sha256.New()
	sum.Write(p.POM)
	sum.Write(p.Checksums)
	for _, name := range p.sourceNames() {
		sum.Write(p.Sources[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

func (p Project) sourceNames() []string {
	var names []string
	for name := range p.Sources {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (p Project) download(ctx context.Context, into string) error {
	work, err := os.MkdirTemp(into, "work-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // it is inside of into
	if err := os.WriteFile(filepath.Join(work, "pom.xml"), p.POM, 0o600); err != nil {
		return err
	}
	if err := run(ctx, work, "mvn", "-B", "-q", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory="+into); err != nil {
		return fmt.Errorf("download the jars of %s: %w", p.Name, err)
	}
	compile := []string{"-nowarn", "--release", release, "-cp", filepath.Join(into, "*"), "-d", "classes"}
	for _, name := range p.sourceNames() {
		if err := os.WriteFile(filepath.Join(work, name), p.Sources[name], 0o600); err != nil {
			return err
		}
		compile = append(compile, name)
	}
	if err := run(ctx, work, "javac", compile...); err != nil {
		return fmt.Errorf("compile the classes of %s: %w", p.Name, err)
	}
	if err := run(ctx, work, "jar", "--create", "--file", filepath.Join(into, ownJar), "-C", "classes", "."); err != nil {
		return err
	}
	return p.verify(into)
}

// verify compares each jar with its checksum, and wants no other.
func (p Project) verify(directory string) error {
	if _, err := os.Stat(filepath.Join(directory, ownJar)); err != nil {
		return err
	}
	var errs []error
	known := []string{ownJar}
	lines := bufio.NewScanner(bytes.NewReader(p.Checksums))
	for lines.Scan() {
		want, name, _ := strings.Cut(lines.Text(), "  ")
		known = append(known, name)
		errs = append(errs, verifyJar(filepath.Join(directory, name), want))
	}
	found, err := filepath.Glob(filepath.Join(directory, "*.jar"))
	errs = append(errs, lines.Err(), err)
	for _, jar := range found {
		if !slices.Contains(known, filepath.Base(jar)) {
			errs = append(errs, fmt.Errorf("%s has no checksum", filepath.Base(jar)))
		}
	}
	return errors.Join(errs...)
}

func verifyJar(path, want string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		return fmt.Errorf("%s has checksum %s, want %s", filepath.Base(path), got, want)
	}
	return nil
}

func run(ctx context.Context, directory, program string, args ...string) error {
	command := exec.CommandContext(ctx, program, args...)
	command.Dir = directory
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(output))
	}
	return nil
}
