//! A very small HTTP/1.1 server on loopback, shared by the scripted model and the hook sink.
//!
//! One thread per connection, keep-alive, bodies by length or chunked. It knows nothing of
//! what is asked; it must not listen anywhere but on 127.0.0.1.

use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use anyhow::{Context as _, Result};

/// Nobody sends us more than this.
const MAX_BODY_BYTES: usize = 64 << 20;

/// One request, read whole.
pub(super) struct HttpRequest {
    pub(super) method: String,
    /// Path without the query.
    pub(super) path: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl HttpRequest {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// One answer, sent whole.
pub(super) struct HttpResponse {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl HttpResponse {
    pub(super) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self {
            status,
            headers,
            body: body.into(),
        }
    }
}

/// Accepts until dropped.
pub(super) struct HttpServer {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl HttpServer {
    pub(super) fn start<F>(answer: F) -> Result<Self>
    where
        F: Fn(&HttpRequest) -> HttpResponse + Send + Sync + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no loopback port")?;
        let address = listener.local_addr().context("no loopback address")?;
        let stop = Arc::new(AtomicBool::new(false));
        let answer = Arc::new(answer);
        let stopping = Arc::clone(&stop);
        let accepting = thread::spawn(move || {
            for stream in listener.incoming() {
                if stopping.load(Ordering::SeqCst) {
                    break;
                }
                let Ok(stream) = stream else { continue };
                let answer = Arc::clone(&answer);
                // A peer that goes away ends its own thread; an error would have no reader.
                thread::spawn(move || drop(serve_request(stream, &*answer)));
            }
        });
        Ok(Self {
            address,
            stop,
            accepting: Some(accepting),
        })
    }

    /// `http://127.0.0.1:PORT`
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread from `accept`; one that cannot be woken is not waited for.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
    }
}

fn serve_request(
    stream: TcpStream,
    answer: &dyn Fn(&HttpRequest) -> HttpResponse,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut writer = BufWriter::new(stream.try_clone()?);
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader, &mut writer)? {
        let response = answer(&request);
        write!(writer, "HTTP/1.1 {} scripted\r\n", response.status)?;
        for (name, value) in &response.headers {
            write!(writer, "{name}: {value}\r\n")?;
        }
        write!(writer, "content-length: {}\r\n\r\n", response.body.len())?;
        if request.method != "HEAD" {
            writer.write_all(&response.body)?;
        }
        writer.flush()?;
    }
    Ok(())
}

fn read_request(
    reader: &mut BufReader<TcpStream>,
    writer: &mut BufWriter<TcpStream>,
) -> io::Result<Option<HttpRequest>> {
    let first = read_line(reader)?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Ok(None); // the peer closed the connection
    };
    let mut request = HttpRequest {
        method: method.to_owned(),
        path: target.split('?').next().unwrap_or(target).to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
    };
    loop {
        let line = read_line(reader)?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        request
            .headers
            .push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    // The peer holds a large body back until it has this line.
    if request.header("expect").is_some() {
        writer.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        writer.flush()?;
    }
    if request
        .header("transfer-encoding")
        .is_some_and(|coding| coding.contains("chunked"))
    {
        loop {
            let size = read_line(reader)?;
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(io::Error::other)?;
            read_exactly(reader, size, &mut request.body)?;
            read_line(reader)?;
            if size == 0 {
                break;
            }
        }
    } else if let Some(size) = request.header("content-length") {
        let size = size.parse().map_err(io::Error::other)?;
        read_exactly(reader, size, &mut request.body)?;
    }
    Ok(Some(request))
}

fn read_line(reader: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    reader.take(1 << 20).read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn read_exactly(
    reader: &mut BufReader<TcpStream>,
    size: usize,
    to: &mut Vec<u8>,
) -> io::Result<()> {
    if size.saturating_add(to.len()) > MAX_BODY_BYTES {
        return Err(io::Error::other("request body too large"));
    }
    let start = to.len();
    to.resize(start + size, 0);
    reader.read_exact(&mut to[start..])
}
