package java

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// layout is that of the images: another one makes those that were kept be made anew.
const layout = "2"

// User that the containers run as: one with a name, for which Java asks.
const User = "185"

// Paths in an image.
const (
	// HomeInImage is the directory of the runtime.
	HomeInImage = "/opt/java"
	// JarsInImage is the directory of the jars.
	JarsInImage = "/opt/jars"
)

// modules of the runtime: those that the engines and their libraries use, with elliptic curves for TLS, names in DNS, and file systems in
// archives.
const modules = "java.base,java.logging,java.management,java.naming,java.net.http,java.rmi,java.scripting,java.security.jgss,java.security.sasl," +
	"java.sql,java.xml,java.xml.crypto,java.instrument,java.compiler,java.desktop,jdk.crypto.ec,jdk.httpserver,jdk.management,jdk.naming.dns,jdk.security.auth," +
	"jdk.security.jgss,jdk.unsupported,jdk.zipfs"

// Image returns the path of an OCI archive with the runtime and the jars of a directory that Project.Jars returned, whose containers begin
// with a main class. It is made once, and kept beside the jars. Reference is the image's name, options are those of the virtual machine,
// for instance those that open packages; JAVA_TOOL_OPTIONS of a pod adds its own. Programs of this machine are in the image's /bin, by
// their names, with the libraries that they need.
func Image(ctx context.Context, jars, class, reference string, options []string, programs ...string) (string, error) {
	version, err := exec.CommandContext(ctx, "jlink", "--version").Output()
	if err != nil {
		return "", fmt.Errorf("jlink --version: %w", err)
	}
	sum := sha256.Sum256([]byte(strings.Join(append([]string{layout, modules, string(version), class, reference, strings.Join(programs, ",")}, options...), "\n")))
	archive := jars + "-image-" + hex.EncodeToString(sum[:6]) + ".tar"
	if _, err := os.Stat(archive); err == nil {
		return archive, nil
	}
	fresh := archive + ".new"
	defer func() { _ = os.Remove(fresh) }() // it was renamed, or is of no use
	if err := writeImage(ctx, jars, class, reference, options, programs, fresh); err != nil {
		return "", err
	}
	return archive, os.Rename(fresh, archive)
}

func writeImage(ctx context.Context, jars, class, reference string, options, programs []string, archive string) error {
	work, err := os.MkdirTemp(filepath.Dir(archive), "image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }() // a temporary directory
	runtime := filepath.Join(work, "runtime")
	if err := run(ctx, work, "jlink", "--output", runtime, "--add-modules", modules, "--strip-debug", "--no-man-pages", "--no-header-files"); err != nil {
		return fmt.Errorf("make a Java runtime: %w", err)
	}
	paths, err := find(programs)
	if err != nil {
		return err
	}
	libraries, err := librariesOf(runtime, paths...)
	if err != nil {
		return fmt.Errorf("find the libraries of the Java runtime and of programs: %w", err)
	}
	system := layer{
		{name: "tmp", mode: 0o1777, directory: true},
		{name: "etc/passwd", mode: 0o444, content: []byte("root:x:0:0::/root:\nengine:x:" + User + ":0::/tmp:\n")},
		{name: "etc/group", mode: 0o444, content: []byte("root:x:0:\n")},
	}
	for _, path := range libraries {
		system = append(system, entry{name: strings.TrimPrefix(path, "/"), mode: 0o555, path: path})
	}
	for i, path := range paths {
		system = append(system, entry{name: "bin/" + programs[i], mode: 0o555, path: path})
	}
	javaLayer, err := tree(runtime, HomeInImage)
	if err != nil {
		return err
	}
	jarLayer, err := tree(jars, JarsInImage)
	if err != nil {
		return err
	}
	return writeArchive(archive, reference, configuration{
		Entrypoint: []string{HomeInImage + "/bin/java", "-cp", JarsInImage + "/*", class},
		Env:        []string{"JAVA_HOME=" + HomeInImage, "PATH=" + HomeInImage + "/bin:/bin", "JDK_JAVA_OPTIONS=" + strings.Join(options, " ")},
		User:       User + ":0", WorkingDir: "/tmp",
	}, []layer{slices.Concat(system, javaLayer), jarLayer})
}

// find returns the paths of programs, those of links being the files that they lead to.
func find(programs []string) ([]string, error) {
	paths := make([]string, len(programs))
	for i, name := range programs {
		path, err := exec.LookPath(name)
		if err != nil {
			return nil, err
		}
		if paths[i], err = filepath.EvalSymlinks(path); err != nil {
			return nil, err
		}
	}
	return paths, nil
}

// tree is a layer with the files of a directory, at a path of the image.
func tree(directory, at string) (layer, error) {
	var files layer
	err := filepath.WalkDir(directory, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		inside, err := filepath.Rel(directory, path)
		if err != nil {
			return err
		}
		target, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		info, err := os.Stat(target)
		if err != nil {
			return err
		}
		files = append(files, entry{name: strings.TrimPrefix(filepath.Join(at, inside), "/"), mode: int64(info.Mode().Perm()&0o111 | 0o444), path: target})
		return nil
	})
	return files, err
}
