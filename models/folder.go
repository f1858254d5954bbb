package models

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	tokenizerFile = "tokenizer.json"
	processorFile = "processor_config.json"
)

// Folder is an opened and fully checked model: every tensor that the forward pass
// and the head need is there, with the right shape. Tensors are views of mapped
// files and stay valid until Close. A Folder may be read from many goroutines.
type Folder struct {
	Name      string // short name: the card's, or the folder's
	Config    *Config
	Head      *HeadConfig
	Tokenizer []byte // tokenizer.json
	Processor []byte // processor_config.json, nil when absent
	Card      Card
	Layout    string // how the text weights are stored: "bf16", "8-bit", "4-bit", "mixed 4-bit", …
	// Centred says that the stored RMSNorm weights of the text backbone lack the +1
	// (Hugging Face names); linear_attn.norm never does (clef.md 1.4).
	Centred   bool
	DiskBytes int64 // sizes of the files that were read or mapped

	tensors map[string]Tensor // canonical names; the head's under "head."
	blobs   []*blob
}

// Open opens a model folder on disk. Errors are *Error.
func Open(dir string) (*Folder, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return nil, systemError(filepath.Base(dir), err)
	}
	if !info.IsDir() {
		return nil, notAFolder(dir)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, systemError(filepath.Base(dir), err)
	}
	return open(dirSource(dir), filepath.Base(abs))
}

func notAFolder(file string) error {
	e := fileError(Unsupported, filepath.Base(file), "this is a file: choose the folder that holds config.json and the weights")
	if strings.HasSuffix(strings.ToLower(file), ".gguf") {
		e.Message = "this is a GGUF file: Clefbar reads safetensors (Cloudflare's original or an MLX conversion)"
	}
	return e
}

// OpenFS opens a model whose files are in a file system, such as the embedded one.
func OpenFS(fsys fs.FS, name string) (*Folder, error) { return open(fsSource{fsys}, name) }

func open(src source, name string) (*Folder, error) {
	f := &Folder{Name: name, tensors: map[string]Tensor{}}
	if err := f.load(src); err != nil {
		err = errors.Join(err, f.Close())
		if e, ok := errors.AsType[*Error](err); ok {
			return nil, e
		}
		return nil, err
	}
	return f, nil
}

// Close unmaps the files. Tensors must not be used any more.
func (f *Folder) Close() error {
	var err error
	for _, b := range f.blobs {
		err = errors.Join(err, b.close())
	}
	f.blobs, f.tensors = nil, nil
	return err
}

// Check reports a mapped file that was cut or rewritten in place or whose disk is
// gone, before its pages are touched. It costs one read of a byte for each file.
func (f *Folder) Check() error {
	for _, b := range f.blobs {
		if err := b.check(); err != nil {
			return err
		}
	}
	return nil
}

// WeightBytes returns the stored size of the tensors that are computed with: all of
// them but the embedding tables, which are read row by row.
func (f *Folder) WeightBytes() int64 {
	var sum int64
	for name, t := range f.tensors {
		if name != "embed_tokens.weight" && name != "lm_head.weight" {
			sum += t.Bytes()
		}
	}
	return sum
}

// Vision says whether the model can read images: it has the tower and its tokens.
func (f *Folder) Vision() bool { return f.Config.Vision != nil }

// Tensor returns a backbone tensor by canonical name: the Hugging Face name without
// its prefix ("layers.0.mlp.up_proj.weight", "lm_head.weight"), "vision." in front
// of the tower's. conv1d has the shape (channels, taps). The name must be one of the
// configuration's: every such tensor exists.
func (f *Folder) Tensor(name string) Tensor {
	t, ok := f.tensors[name]
	if !ok {
		panic("models: no tensor " + name)
	}
	return t
}

// HeadTensor returns a tensor of the joint head by its name in joint_head.safetensors.
func (f *Folder) HeadTensor(name string) Tensor { return f.Tensor(headPrefix + name) }

const headPrefix = "head."

// load fills the folder in the order in which people can act on what is wrong:
// is it a model at all, is it Clef, is it complete, is it consistent.
func (f *Folder) load(src source) error {
	names, err := src.names()
	if err != nil {
		return err
	}
	if err := f.loadConfigs(src, names); err != nil {
		return err
	}
	plan, err := planShards(src, names)
	if err != nil {
		return err
	}
	stored, blobs, err := openShards(src, names, plan)
	f.blobs = blobs
	if err != nil {
		return err
	}
	if err := f.addBackbone(stored); err != nil {
		return err
	}
	return f.addHead(src)
}

func (f *Folder) loadConfigs(src source, names []string) error {
	if !slices.Contains(names, configFile) {
		return notAModel(names)
	}
	config, err := f.read(src, configFile, maxConfigBytes)
	if err != nil {
		return err
	}
	if f.Config, err = parseConfig(config); err != nil {
		return err
	}
	for _, n := range []string{headFile, headConfigFile} {
		if !slices.Contains(names, n) {
			return fileError(NoHead, n, "no such file: this is a chat backbone without Clef's decision head")
		}
	}
	head, err := f.read(src, headConfigFile, maxConfigBytes)
	if err != nil {
		return err
	}
	if f.Head, err = parseHeadConfig(head, f.Config); err != nil {
		return err
	}
	return f.loadCompanions(src, names)
}

// loadCompanions reads the tokenizer, which must be there, and the files that may be.
func (f *Folder) loadCompanions(src source, names []string) (err error) {
	if f.Tokenizer, err = readTokenizer(src, names); err != nil {
		return err
	}
	f.DiskBytes += int64(len(f.Tokenizer))
	if slices.Contains(names, processorFile) {
		if f.Processor, err = f.read(src, processorFile, maxConfigBytes); err != nil {
			return err
		}
	}
	if !slices.Contains(names, cardFile) {
		return nil
	}
	card, err := f.read(src, cardFile, maxConfigBytes)
	if err != nil {
		return err
	}
	f.Card, err = parseCard(card)
	if f.Card.Name != "" {
		f.Name = f.Card.Name
	}
	return err
}

// ReadTokenizer returns the tokenizer.json of a model folder, which is all that turning text into tokens needs. The
// rest of the folder may be missing. Errors are *Error.
func ReadTokenizer(dir string) ([]byte, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, notAFolder(dir)
	}
	src := dirSource(dir)
	names, err := src.names()
	if err != nil {
		return nil, err
	}
	return readTokenizer(src, names)
}

func readTokenizer(src source, names []string) ([]byte, error) {
	if !slices.Contains(names, tokenizerFile) {
		return nil, fileError(Incomplete, tokenizerFile, "no such file: the model cannot read text without its tokenizer")
	}
	data, err := src.read(tokenizerFile, maxTokenizerBytes)
	if err != nil {
		return nil, err
	}
	if what := impostor(data); what != "" {
		return nil, fileError(Malformed, tokenizerFile, "%s", what)
	}
	return data, nil
}

func (f *Folder) read(src source, name string, limit int64) ([]byte, error) {
	data, err := src.read(name, limit)
	f.DiskBytes += int64(len(data))
	return data, err
}

// notAModel explains a folder without config.json.
func notAModel(names []string) error {
	for _, n := range names {
		if strings.HasSuffix(strings.ToLower(n), ".gguf") {
			return fileError(Unsupported, n, "this folder holds a GGUF model: Clefbar reads safetensors (Cloudflare's original or an MLX conversion)")
		}
	}
	if slices.Contains(names, "snapshots") && slices.Contains(names, "blobs") {
		return fileError(NotFound, configFile, "no such file: this is a Hugging Face cache folder, choose one of its snapshots")
	}
	return fileError(NotFound, configFile, "no such file: this folder holds no model")
}

// addHead opens joint_head.safetensors; like the reference it allows no tensor more or less.
func (f *Folder) addHead(src source) error {
	b, err := src.weights(headFile)
	if err != nil {
		return err
	}
	f.blobs = append(f.blobs, b)
	have := map[string]*stored{}
	if err := addTensors(have, b); err != nil {
		return err
	}
	for _, w := range headPlan(f.Head) {
		t, err := plain(have[w.name], w, headFile)
		if err != nil {
			return err
		}
		f.tensors[headPrefix+w.name] = t
		delete(have, w.name)
	}
	if name := firstKey(have); name != "" {
		return tensorError(Mismatch, headFile, name, "not a tensor of Clef's head with %s", headConfigFile)
	}
	for _, b := range f.blobs {
		f.DiskBytes += int64(len(b.data))
	}
	return nil
}
