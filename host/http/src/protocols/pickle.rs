//! Lists that open-instruct packs: pickled, compressed by zlib, in base64. The reader knows only the
//! opcodes that make plain data, and refuses those that would call or import anything.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use serde_json::{Map, Value};

/// The bytes of an unpacked list.
const BYTES_MAX: usize = 8 << 20;
/// The values that may be made in all. Pickle can name a remembered value any number of times, so a short
/// text could otherwise fill the memory.
const VALUES_MAX: usize = 100_000;
/// The depth of nested lists and dicts; functions that walk a value recurse that deep.
const DEPTH_MAX: usize = 64;

/// The list that a packed text holds.
pub(super) fn packed_list(text: &str) -> Result<Vec<Value>, String> {
    let packed = STANDARD.decode(text.trim()).map_err(|_| "it is no base64")?;
    let mut bytes = Vec::new();
    let read = ZlibDecoder::new(&packed[..]).take(BYTES_MAX as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|_| "it is not compressed by zlib")?;
    if bytes.len() > BYTES_MAX {
        return Err(format!("it has more than {BYTES_MAX} bytes"));
    }
    match Reader::new(&bytes).read()? {
        Value::Array(values) => Ok(values),
        _ => Err("it is no list".into()),
    }
}

/// A stack machine, as pickle is one.
struct Reader<'a> {
    left: &'a [u8],
    stack: Vec<PickleValue>,
    marks: Vec<usize>,
    memo: Vec<Value>,
    made: usize,
    made_bytes: usize,
}

/// A value, and how deep it is: 0 for what holds no other.
struct PickleValue {
    value: Value,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn new(left: &'a [u8]) -> Self {
        let (stack, marks, memo) = (Vec::new(), Vec::new(), Vec::new());
        Self { left, stack, marks, memo, made: 0, made_bytes: 0 }
    }

    fn read(mut self) -> Result<Value, String> {
        loop {
            let [code] = self.take()?;
            match code {
                b'.' => return Ok(self.pop()?.value),
                // Which version of the language it is, and how long a piece of it.
                0x80 => drop(self.take::<1>()?),
                0x95 => drop(self.take::<8>()?),
                _ => self.step(code)?,
            }
        }
    }

    fn step(&mut self, code: u8) -> Result<(), String> {
        match code {
            b'N' => self.push(Value::Null),
            0x88 => self.push(true.into()),
            0x89 => self.push(false.into()),
            b'K' => {
                let [byte] = self.take()?;
                self.push(byte.into())
            }
            b'M' => {
                let number = u16::from_le_bytes(self.take()?);
                self.push(number.into())
            }
            b'J' => {
                let number = i32::from_le_bytes(self.take()?);
                self.push(number.into())
            }
            b'G' => {
                let number = f64::from_be_bytes(self.take()?);
                self.push(number.into())
            }
            0x8c => {
                let [length] = self.take()?;
                self.text(length.into())
            }
            b'X' => {
                let length = u32::from_le_bytes(self.take()?);
                self.text(length.into())
            }
            0x8d => {
                let length = u64::from_le_bytes(self.take()?);
                self.text(length)
            }
            b']' | b')' => self.push(Value::Array(Vec::new())),
            b'}' => self.push(Value::Object(Map::new())),
            _ => self.put_together(code),
        }
    }

    /// Codes that work on what is there.
    fn put_together(&mut self, code: u8) -> Result<(), String> {
        match code {
            0x94 => self.remember(),
            b'q' => self.take::<1>().and_then(|_| self.remember()),
            b'r' => self.take::<4>().and_then(|_| self.remember()),
            b'h' => {
                let [at] = self.take()?;
                self.recall(at.into())
            }
            b'j' => {
                let at = u32::from_le_bytes(self.take()?);
                self.recall(at)
            }
            b'(' => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            b'a' => {
                let value = self.pop()?;
                self.append(vec![value])
            }
            b'e' => {
                let values = self.above_mark()?;
                self.append(values)
            }
            b's' => {
                let value = self.pop()?;
                let key = self.pop()?;
                self.set(vec![key, value])
            }
            b'u' => {
                let pairs = self.above_mark()?;
                self.set(pairs)
            }
            _ => Err(format!("it contains more than plain data (code {code:#04x})")),
        }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (taken, left) = self.left.split_first_chunk().ok_or("it ends early")?;
        self.left = left;
        Ok(*taken)
    }

    fn text(&mut self, length: u64) -> Result<(), String> {
        let length = usize::try_from(length).ok().filter(|length| *length <= self.left.len());
        let (text, left) = self.left.split_at(length.ok_or("it ends early")?);
        self.left = left;
        let text = std::str::from_utf8(text).map_err(|_| "a text is not UTF-8")?;
        self.push(text.into())
    }

    fn push(&mut self, value: Value) -> Result<(), String> {
        self.count(&value)?;
        self.stack.push(PickleValue { value, depth: 0 });
        Ok(())
    }

    fn count(&mut self, value: &Value) -> Result<(), String> {
        self.made += 1;
        self.made_bytes += value.as_str().map_or(0, str::len);
        if self.made > VALUES_MAX || self.made_bytes > BYTES_MAX {
            return Err(format!("it has more than {VALUES_MAX} values or {BYTES_MAX} bytes"));
        }
        Ok(())
    }

    fn pop(&mut self) -> Result<PickleValue, String> {
        self.stack.pop().ok_or_else(|| "it ends early".into())
    }

    /// Remembers the top value under the next number, as Python numbers them. Only texts are kept: a list
    /// that contains itself would have no end.
    fn remember(&mut self) -> Result<(), String> {
        let last = self.stack.last().map(|held| &held.value);
        let value = last.filter(|value| value.is_string()).cloned().unwrap_or_default();
        self.count(&value)?;
        self.memo.push(value);
        Ok(())
    }

    fn recall(&mut self, at: u32) -> Result<(), String> {
        match self.memo.get(at as usize).cloned() {
            Some(text @ Value::String(_)) => self.push(text),
            _ => Err("it refers twice to a value that is not text".into()),
        }
    }

    fn above_mark(&mut self) -> Result<Vec<PickleValue>, String> {
        let mark = self.marks.pop().filter(|mark| *mark <= self.stack.len());
        Ok(self.stack.split_off(mark.ok_or("it has no mark")?))
    }

    fn append(&mut self, values: Vec<PickleValue>) -> Result<(), String> {
        match self.holder(&values)? {
            Value::Array(list) => list.extend(values.into_iter().map(|held| held.value)),
            _ => return Err("it appends to a value that is not a list".into()),
        }
        Ok(())
    }

    fn set(&mut self, pairs: Vec<PickleValue>) -> Result<(), String> {
        let Value::Object(object) = self.holder(&pairs)? else {
            return Err("it sets what is no dict".into());
        };
        let mut pairs = pairs.into_iter().map(|held| held.value);
        while let (Some(key), Some(value)) = (pairs.next(), pairs.next()) {
            let Value::String(key) = key else { return Err("a key is not a text".into()) };
            object.insert(key, value);
        }
        Ok(())
    }

    /// The value on top, which is about to hold others.
    fn holder(&mut self, others: &[PickleValue]) -> Result<&mut Value, String> {
        let holder = self.stack.last_mut().ok_or("it ends early")?;
        let depth = others.iter().map(|held| held.depth + 1).max().unwrap_or(0);
        holder.depth = holder.depth.max(depth);
        if holder.depth > DEPTH_MAX {
            return Err(format!("it is nested deeper than {DEPTH_MAX}"));
        }
        Ok(&mut holder.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::io::Write as _;

    fn packed(pickle: &[u8]) -> String {
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        zlib.write_all(pickle).expect("to memory");
        STANDARD.encode(zlib.finish().expect("to memory"))
    }

    #[test]
    fn what_python_packed_is_read() {
        // base64(zlib(pickle.dumps(["assert f(1) == 2"])))
        let texts = packed(b"\x80\x04\x95\x17\0\0\0\0\0\0\0]\x94\x8c\x10assert f(1) == 2\x94a.");
        assert_eq!(packed_list(&texts), Ok(vec![json!("assert f(1) == 2")]));
        // pickle.dumps([{"input": "1", "output": "2"}, {"input": "2", "output": "3"}])
        let dicts = packed(
            b"\x80\x04\x950\0\0\0\0\0\0\0]\x94(}\x94(\x8c\x05input\x94\x8c\x011\x94\x8c\x06output\
              \x94\x8c\x012\x94u}\x94(h\x02h\x05h\x04\x8c\x013\x94ue.",
        );
        let expected =
            vec![json!({ "input": "1", "output": "2" }), json!({ "input": "2", "output": "3" })];
        assert_eq!(packed_list(&dicts), Ok(expected));
    }

    #[test]
    fn nothing_but_plain_data_is_read() {
        // os.system("true")
        let call = packed(b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.");
        assert!(packed_list(&call).is_err_and(|why| why.contains("plain data")));
        let itself = packed(b"\x80\x04]\x94h\0a.");
        assert!(packed_list(&itself).is_err());
        let many = packed(&[&b"\x80\x04]("[..], &b"N".repeat(VALUES_MAX), b"e."].concat());
        assert!(packed_list(&many).is_err_and(|why| why.contains("values")));
        // Dropping it would overflow the stack.
        let deep = packed(&[&b"]".repeat(90_000)[..], &b"a".repeat(89_999), b"."].concat());
        assert!(packed_list(&deep).is_err_and(|why| why.contains("deeper")));
        for odd in [&b""[..], b".", b"]", b"\x8c\xffx", b"X\xff\xff\xff\xff", b"e.", b"]a.", b"Ns."]
        {
            assert!(packed_list(&packed(odd)).is_err(), "{odd:?}");
        }
        assert!(packed_list("!").is_err() && packed_list("YWJj").is_err());
    }
}
